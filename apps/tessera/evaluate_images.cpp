#include "evaluate_images.h"

#include "base/log.h"
#include "base/require.h"
#include "engine/image_engine.h"
#include "extractor_hint.h"
#include "image/dataset.h"
#include "image/grid.h"
#include "image/npz.h"
#include "image/png.h"
#include "image_metric/distance_name.h"
#include "image_metric/kernel_distance.h"
#include "image_metric/nearest.h"
#include "image_metric/sample_warning.h"
#include "option_checks.h"
#include "print_json.h"
#include "task/image_distance.h"
#include "task/stored_recipe.h"
#include "train/run_folder.h"

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <iostream>
#include <optional>
#include <span>
#include <stop_token>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr int64_t kNearestShown = 32;      // images whose neighbours are looked for
constexpr int64_t kMostForKernel = 10000;  // images of each set
constexpr int64_t kTrainingTile = 2000;    // training images that are compared at a time

fs::path images_folder(const ModelSettings& model, const ImageMeasuring& measuring) {
  if (!measuring.data.empty()) return measuring.data;
  require_option(train::RunFolder::is_one(model.folder),
                 "'{}' is not a training run: name the images to compare with, --data DIR",
                 model.folder.string());
  const train::RunFolder run = train::RunFolder::open(model.folder);
  return task::data_folder(task::StoredRecipe(run).recipe, run.path());
}

// How far images are from the nearest one of training: root mean square of the differences of
// sub-pixels, and which.
struct Neighbours {
  at::Tensor index, distance;  // [n]
};

Neighbours neighbours(const at::Tensor& images, const at::Tensor& training) {
  image_metric::NearestSearch search(images);
  for (const at::Tensor& tile : training.split(kTrainingTile)) search.add(tile);
  const auto size = static_cast<double>(images[0].numel());
  return {search.index(), search.distance() / std::sqrt(size)};
}

double middle(const at::Tensor& values) {
  return values.median().item<double>();
}

// What an extractor that is a classifier says of the images.
class Recognition {
 public:
  explicit Recognition(const image_metric::Extractor& classifier) : classifier_(classifier) {}

  void add(const at::Tensor& images) {
    if (!classifier_.has_logits()) return;
    const auto [confidence, label] = classifier_.class_probabilities(images).cpu().max(1);
    const at::Tensor sure = label.masked_select(confidence.gt(kSure));
    seen_ += images.size(0);
    if (classes_ == 0) classes_ = classifier_.class_probabilities(images.narrow(0, 0, 1)).size(1);
    const at::Tensor counts = at::bincount(sure, {}, classes_);
    counts_ = counts_.defined() ? counts_ + counts : counts;
  }

  bool known() const { return seen_ > 0; }
  double share() const { return counts_.sum().item<double>() / static_cast<double>(seen_); }
  std::vector<double> shares() const {  // by class
    const at::Tensor all = counts_.to(at::kDouble) / static_cast<double>(seen_);
    return {all.const_data_ptr<double>(), all.const_data_ptr<double>() + all.numel()};
  }

  static constexpr double kSure = 0.8;

 private:
  const image_metric::Extractor& classifier_;
  int64_t seen_ = 0, classes_ = 0;
  at::Tensor counts_;  // of images it is sure of, by class
};

struct Findings {
  task::ImageDistance::Result distance;
  std::string distance_name, extractor, extractor_hash;
  std::optional<image_metric::KernelDistance> kernel = std::nullopt;
  std::string kernel_name;
  std::optional<double> nearest = std::nullopt, nearest_real = std::nullopt;
  std::optional<double> recognised = std::nullopt;  // share of the images
  std::vector<double> recognised_by_class = {};
  int64_t nfe = 0;  // network calls of an image
  double r = 0;
  uint64_t seed = 0;
};

// Pairs: an image that was made, and the nearest one of training.
void write_neighbours(const fs::path& file, const at::Tensor& made, const at::Tensor& training,
                      const at::Tensor& index) {
  const at::Tensor pairs =
      at::stack({made, training.index_select(0, index)}, 1).flatten(0, 1).contiguous();
  image::write_png(file, image::grid(pairs, 8, 2, 2));
}

// Two steps of one batch, so that before the clock runs libraries are loaded and kernels chosen.
void warm_up(const Engine& engine, ImageRequest request, int64_t images) {
  std::stop_source stop;
  request.count = images;
  request.stop = stop.get_token();
  request.on_step = [&](const ImageStep& step) {
    if (step.sample.index == 1) stop.request_stop();
  };
  const ImageResult result = engine.run(std::span(&request, 1)).front();
  if (result.outcome == Outcome::failed) result.require_done();
}

Json json_report(const Findings& found, const Engine& engine) {
  Json json{
      {"kind", "image"},
      {"model", engine.folder().string()},
      {"images", found.distance.samples},
      {"distance",
       {{"name", found.distance_name},
        {"value", found.distance.distance},
        {"extractor", found.extractor},
        {"extractor_hash", found.extractor_hash}}},
      {"nfe", found.nfe},
      {"r", found.r},
      {"seed", found.seed},
      {"seconds", found.distance.seconds},
      {"images_per_second", static_cast<double>(found.distance.samples) / found.distance.seconds}};
  if (found.kernel)
    json["kernel_distance"] = {{"name", found.kernel_name},
                               {"value", found.kernel->mean},
                               {"deviation", found.kernel->deviation},
                               {"subsets", found.kernel->subsets},
                               {"subset_size", found.kernel->subset_size}};
  if (found.recognised)
    json["recognised"] = {{"confidence", Recognition::kSure},
                          {"share", *found.recognised},
                          {"by_class", found.recognised_by_class}};
  if (found.nearest)
    json["nearest"] = {{"made", *found.nearest}, {"held_out", *found.nearest_real}};
  return json;
}

std::string text_report(const Findings& found) {
  std::string text = fmt::format("{:<16}{:.4f}\n", found.distance_name, found.distance.distance);
  if (found.kernel)
    text += fmt::format("{:<16}{:.5f} ± {:.5f} ({} subsets of {} images)\n", found.kernel_name,
                        found.kernel->mean, found.kernel->deviation, found.kernel->subsets,
                        found.kernel->subset_size);
  text += fmt::format("{:<16}{} made, {:.1f} a second\n", "images", found.distance.samples,
                      static_cast<double>(found.distance.samples) / found.distance.seconds);
  text += fmt::format("{:<16}{} network calls an image, r = {:g}, seed {}\n", "sampler", found.nfe,
                      found.r, found.seed);
  text += fmt::format("{:<16}{} ({})\n", "extractor", found.extractor, found.extractor_hash);
  if (found.recognised) {
    text += fmt::format("{:<16}{:.1f} % of the images, with a confidence above {:g}; by class",
                        "recognised", 100 * *found.recognised, Recognition::kSure);
    for (const double share : found.recognised_by_class)
      text += fmt::format(" {:.1f}", 100 * share);
    text += " %\n";
  }
  if (found.nearest)
    text += fmt::format(
        "{:<16}{:.1f} of 255 is the median distance to the nearest training image; {:.1f} that of "
        "held-out images\n",
        "nearest", *found.nearest, *found.nearest_real);
  return text;
}

}  // namespace

void add_image_measuring(CLI::App& command, ImageMeasuring& measuring) {
  command.add_option("--count", measuring.count, "how many images to make")
      ->check(whole_number(2))
      ->capture_default_str();
  command
      .add_option("--features", measuring.features,
                  "TorchScript file of the network whose features are compared")
      ->option_text("FILE.pt");
  command
      .add_option("--stats", measuring.statistics,
                  "features' statistics of the training images: read, or made and written")
      ->check(file_to_write())
      ->option_text("FILE.safetensors");
  command.add_flag("--kid", measuring.kernel, "the kernel distance, too");
  command
      .add_option("--nearest", measuring.nearest,
                  "picture of the images beside the nearest training images, to see whether the "
                  "model has memorised them")
      ->check(file_to_write())
      ->option_text("FILE.png");
  command
      .add_option("--npz", measuring.npz,
                  "keep the images, as numpy reads them: [N, H, W, C] uint8")
      ->option_text("FILE.npz");
}

void evaluate_images(const ModelSettings& model, const ImageSettings& settings,
                     const ImageMeasuring& measuring, const GlobalOptions& globals) {
  if (measuring.features.empty())
    throw UsageError("--features is missing: the network whose features are compared",
                     kMakeExtractor);
  const image::Dataset dataset(images_folder(model, measuring));
  const at::Tensor& training = dataset.split("train").images();
  at::Tensor held_out;  // asked for now: what is missing is known before the work
  if (!measuring.nearest.empty())
    held_out = dataset.split(dataset.has_split("valid") ? "valid" : "test").images();
  const Engine engine(model.folder, model.load_options(globals));
  const SampleOptions options = options_in_effect(engine, settings.options);
  ImageRequest request = request_for(measuring.count, settings, globals);
  const image_model::ImageShape& shape = engine.images().model().shape();
  require(shape == image_model::ImageShape({dataset.channels(), dataset.height(), dataset.width()}),
          "the images in '{}' are of another size than those the model makes",
          dataset.folder().string());
  const task::ImageDistance distance(measuring.features, measuring.statistics, dataset,
                                     engine.images().model().device());
  std::optional<image::NpzWriter> npz;
  if (!measuring.npz.empty()) {
    npz.emplace(measuring.npz);
    npz->begin("images", at::kByte, {measuring.count, shape.height, shape.width, shape.channels});
  }
  log::info("measuring {}", engine.folder().string());
  warm_up(engine, request, std::min(*options.batch, measuring.count));

  Recognition recognition(distance.extractor());
  at::Tensor first;
  std::vector<at::Tensor> features;
  int64_t kept = 0;
  Findings found;
  found.r = *options.r;
  found.seed = request.seed;
  const auto stream = [&](const std::function<void(const at::Tensor&)>& take) {
    request.take = [&](const Images& some) { take(engine::to_pictures(some)); };
    const ImageResult result = engine.run(std::span(&request, 1)).front();
    result.require_done();
    found.nfe = result.nfe;
  };
  found.distance = distance.measure(
      measuring.count, stream, [&](const at::Tensor& images, const at::Tensor& theirs) {
        if (!first.defined()) first = images.narrow(0, 0, std::min(kNearestShown, images.size(0)));
        recognition.add(images);
        if (npz) npz->append(images.permute({0, 2, 3, 1}).contiguous());
        if (measuring.kernel && kept < kMostForKernel) {
          features.push_back(theirs);
          kept += theirs.size(0);
        }
      });
  if (npz) npz->commit();
  found.distance_name = distance.name();
  found.extractor = distance.extractor().file_name();
  found.extractor_hash = distance.extractor().short_hash();
  if (recognition.known()) {
    found.recognised = recognition.share();
    found.recognised_by_class = recognition.shares();
  }
  if (found.distance.warning) log::warn("{}", *found.distance.warning);

  if (measuring.kernel) {
    std::vector<at::Tensor> real;
    for (const at::Tensor& tile :
         training.narrow(0, 0, std::min(kept, training.size(0))).split(500))
      real.push_back(distance.extractor().features(tile));
    found.kernel =
        image_metric::kernel_distance(at::cat(features), at::cat(real), {.seed = globals.seed});
    found.kernel_name = image_metric::kernel_name(measuring.features);
    if (const auto warning = image_metric::subset_warning(*found.kernel)) log::warn("{}", *warning);
  }
  if (!measuring.nearest.empty()) {
    const Neighbours near = neighbours(first, training);
    write_neighbours(measuring.nearest, first, training, near.index);
    found.nearest = middle(near.distance);
    const at::Tensor some = held_out.narrow(0, 0, std::min(kNearestShown, held_out.size(0)));
    found.nearest_real = middle(neighbours(some, training).distance);
  }
  if (globals.json)
    print_json(json_report(found, engine));
  else
    std::cout << text_report(found);
}

}  // namespace tessera::app
