#include "task/image_task.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "evaluation/image_codes.h"
#include "image/grid.h"
#include "image/png.h"
#include "image_metric/distance_name.h"
#include "image_model/autoencoder_folder.h"
#include "image_model/image_folder.h"
#include "image_model/image_generator.h"
#include "task/loss_meter.h"
#include "task/temporary_weights.h"
#include "tensor/machine_memory.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>

namespace tessera::task {
namespace {

using Json = nlohmann::ordered_json;

image_model::ImageShape shape_of(const image::Dataset& dataset) {
  image_model::ImageShape shape{dataset.channels(), dataset.height(), dataset.width()};
  if (const auto& codes = dataset.manifest().codes) shape.symbols = codes->symbols;
  return shape;
}

// The autoencoder that made the codes of a data set; nullptr if it has pixels.
std::shared_ptr<const image_model::Autoencoder> decoder_of(const image::Dataset& dataset,
                                                           at::Device device) {
  if (!dataset.holds_codes()) return nullptr;
  return image_model::load_autoencoder(dataset.folder() / image_model::kAutoencoderFile, device);
}

std::unique_ptr<image_model::ImageModel> new_model(const ImageOptions& options,
                                                   const image::Dataset& dataset, uint64_t seed,
                                                   at::Device device) {
  return std::make_unique<image_model::ImageModel>(
      options.model, shape_of(dataset), static_cast<int64_t>(dataset.classes().size()), device,
      nn::usual_precision(device), seed, FamilyMaker(), decoder_of(dataset, device));
}

// The least memory of an update, in bytes. It keeps at least two states for each block of the first
// stage, for the gradient.
double least_memory(const ImageOptions& options, const image_model::ImageShape& shape) {
  const nn::UNetOptions& network = options.model.network;
  const auto pixels = static_cast<double>(options.data.batch * shape.height * shape.width);
  return sizeof(float) * pixels * 2 * static_cast<double>(network.width) *
         static_cast<double>(2 * network.blocks + 1);
}

}  // namespace

ImageTask::ImageTask(const ImageOptions& options, image::Dataset dataset, uint64_t seed,
                     at::Device device, ranks::Group& group)
    : options_(options),
      group_(group),
      dataset_(std::move(dataset)),
      seed_(seed),
      model_(new_model(options, dataset_, seed, device)),
      batcher_(dataset_.split("train"),
               {options.data.batch, options.data.flip, options.model.conditional}, seed),
      held_out_(dataset_.held_out()) {
  if (device.is_cpu())  // on a GPU, allocating fails with an error
    require_memory(least_memory(options, shape_of(dataset_)),
                   fmt::format("batches of size {}", options.data.batch), memory_hint());
  // Reports errors in the settings of a validation before the training.
  const image_model::ImageGenerator checked(*model_, options.sampling);
  const ImageValidation& validation = options.validation;
  if (validation.samples == 0) {
    require_option(validation.score != ImageScore::distance,
                   "train.score = \"distance\" needs train.validate_samples and train.features");
    return;
  }
  require_option(!validation.features.empty(),
                 "train.validate_samples needs train.features, the extractor of the distance");
  require_option(validation.samples >= 2,
                 "train.validate_samples must be 0 or at least 2: one image has no covariance");
  evaluation::ImageDistance::check(validation.features, validation.statistics,
                                   evaluation::images_behind(dataset_.folder()));
}

double ImageTask::validation_loss(Json& line, const std::function<void()>& pause) {
  const int64_t count = std::min(options_.validation.images, held_out_.size());
  LossMeter meter(*model_);
  const auto add = [&](int64_t first) {
    pause();
    const int64_t rows = std::min(options_.data.batch, count - first);
    nn::Inputs inputs{
        channels_last(held_out_.images().narrow(0, first, rows)).to(model_->device())};
    if (model_->classes() > 0)
      inputs.push_back(held_out_.labels().narrow(0, first, rows).to(model_->device()));
    const auto number = 2 * static_cast<uint64_t>(first);
    const Draws draws = model_->draw_for(
        inputs, {{seed_, Purpose::validation, number}, {seed_, Purpose::validation, number + 1}});
    meter.add(model_->loss_of(inputs, draws, /*variant=*/0, nn::Mode::inference));
  };
  const int64_t batch = options_.data.batch;
  ranks::together(group_, [&] {
    for (int64_t first = group_.rank() * batch; first < count; first += group_.size() * batch)
      add(first);
  });
  meter.share(group_);
  const LossMeter::Means means = meter.means();
  line["valid_loss"] = means.loss;
  for (const auto& [name, value] : means.parts) line["valid_" + name] = value;
  return means.loss;
}

std::string ImageTask::shown_images(const image_model::ImageGenerator& generator,
                                    const std::function<void()>& pause) const {
  std::vector<at::Tensor> parts;
  generator.stream(
      0, options_.validation.shown, image_model::all_classes_in_turn(*model_),
      [&](const at::Tensor& images) { parts.push_back(images); }, pause);
  const int64_t columns = image::square_columns(options_.validation.shown);
  return image::png_data_uri(image::grid(at::cat(parts), columns, /*padding=*/1));
}

void ImageTask::open_distance(const std::function<void()>& pause) {
  const auto open = [&] {
    distance_.emplace(options_.validation.features, options_.validation.statistics,
                      evaluation::images_behind(dataset_.folder()), model_->device(), pause);
  };
  // Statistics that are not there yet are made by process 0 and read by the others.
  if (options_.validation.statistics.empty())
    ranks::together(group_, open);
  else
    ranks::first_then_others(group_, open);
}

evaluation::ImageDistance::Result ImageTask::measure_distance(
    const image_model::ImageGenerator& generator, const std::function<void()>& pause) {
  const int64_t count = options_.validation.samples;
  const bool shared = !group_.alone() && count >= group_.size();
  const int64_t begin = shared ? count * group_.rank() / group_.size() : 0;
  const int64_t end = shared ? count * (group_.rank() + 1) / group_.size() : count;
  // What fails in one process must not leave the others waiting for its sums.
  const auto stream = [&](const auto& take) {
    ranks::together(group_, [&] {
      generator.stream(begin, end - begin, image_model::all_classes_in_turn(*model_), take, pause);
    });
  };
  std::function<void(const at::Tensor&)> sum;
  if (shared) sum = [&](const at::Tensor& values) { group_.sum(values); };
  return distance_->measure(count, stream, {}, sum);
}

train::Validation ImageTask::validate(const at::Tensor& weights, int64_t step,
                                      const std::function<void()>& pause) {
  const c10::NoGradGuard no_grad;
  std::optional<TemporaryWeights> in_force;
  ranks::together(group_, [&] { in_force.emplace(*model_, weights); });
  Json line;
  const double loss = validation_loss(line, pause);
  log::info("step {}  validation loss {:.4f}", step, loss);
  double score = -loss;
  const image_model::ImageGenerator generator(*model_, options_.sampling);
  ranks::together(group_, [&] {
    if (options_.validation.shown > 0 && group_.first())
      line["valid_images"] = shown_images(generator, pause);
  });
  if (options_.validation.samples > 0) {
    if (!distance_) open_distance(pause);
    const evaluation::ImageDistance::Result found = measure_distance(generator, pause);
    const double rate = static_cast<double>(found.samples) / found.seconds;
    log::fields({fmt::format("step {}", step),
                 fmt::format("{} {:.2f}", distance_->name(), found.distance),
                 fmt::format("of {} images", found.samples), fmt::format("{:.0f} images/s", rate)});
    line["valid_distance"] = found.distance;
    line["valid_distance_name"] = distance_->name();
    line["valid_images_per_second"] = rate;
    if (options_.validation.score == ImageScore::distance) score = -found.distance;
  }
  return {score, line};
}

std::string ImageTask::score_text(double score) const {
  if (options_.validation.score == ImageScore::distance)
    return fmt::format("{} {:.2f}", image_metric::frechet_name(options_.validation.features),
                       -score);
  return fmt::format("validation loss {:.4f}", -score);
}

safetensors::File ImageTask::weights_of(const std::filesystem::path& run_or_model) const {
  const std::filesystem::path folder = find_model_folder(run_or_model);
  const auto given = image_model::load_image_folder(folder, at::kCPU, nn::Precision::float32);
  require(given.model->shape() == model_->shape(),
          "the model in '{}' is for images of another size than those in '{}'", folder.string(),
          dataset_.folder().string());
  config::Schema ours, theirs;
  image_model::ImageModelOptions own = model_->options(), other = given.model->options();
  declare(ours, own);
  declare(theirs, other);
  for (const auto& [key, value] : ours.values())
    require(!key.starts_with("model.") || theirs.values().at(key) == value,
            "the model in '{}' has another {} than the recipe", folder.string(), key);
  return safetensors::File(folder / kModelWeightsFile);
}

void ImageTask::write_model(const std::filesystem::path& folder, const at::Tensor& weights,
                            int64_t step) const {
  const ModelCard card{
      .title = "A model of images, of tessera",
      .description = "Boundary-conditional diffusion of discrete pixels.",
      .data = fmt::format("a prepared data set of fingerprint {}", dataset_.fingerprint()),
      .facts = {{"updates", fmt::format("{}", step)},
                {"images a batch", fmt::format("{}", options_.data.batch)},
                {"seed", fmt::format("{}", seed_)}}};
  image_model::write_image_folder(folder, *model_, weights, dataset_.classes(), options_.sampling,
                                  card);
}

std::string ImageTask::memory_hint() const {
  return fmt::format("lower data.batch (now {}) and raise train.accumulate by the same factor",
                     options_.data.batch);
}

std::vector<train::Fact> ImageTask::facts() const {
  const int64_t images = dataset_.split("train").size();
  const std::string content = dataset_.holds_codes()
                                  ? fmt::format("{} codes", model_->shape().symbols)
                                  : counted(dataset_.channels(), "colour");
  return {{"images", images, "images",
           fmt::format("{} of {} x {}, {}, {}", images, dataset_.width(), dataset_.height(),
                       content, counted(std::ssize(dataset_.classes()), "class", "classes"))},
          {"batches_per_epoch", batcher_.batches(), "epoch",
           fmt::format("{} of {}", counted(batcher_.batches(), "batch", "batches"),
                       options_.data.batch)}};
}

std::vector<std::string> ImageTask::next_commands(const std::filesystem::path& run) const {
  const std::string features = options_.validation.features.string();
  return {fmt::format("tessera sample {} --count 64 --grid FILE.png", run.string()),
          fmt::format("tessera evaluate {} --features {}", run.string(),
                      features.empty() ? "EXTRACTOR.pt" : features)};
}

}  // namespace tessera::task
