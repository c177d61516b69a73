#include "evaluate_images.h"

#include "base/log.h"
#include "base/require.h"
#include "engine/image_engine.h"
#include "evaluate_codes.h"
#include "extractor_hint.h"
#include "image/grid.h"
#include "image/npz.h"
#include "image/png.h"
#include "option_checks.h"
#include "print_json.h"
#include "task/stored_recipe.h"
#include "train/run_folder.h"

#include <tessera/evaluation/image_evaluation.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <optional>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

Json json_report(const ImageEvaluation& found, const Engine& engine, uint64_t seed) {
  Json json{{"kind", "image"},
            {"model", engine.folder().string()},
            {"images", found.images},
            {"distance",
             {{"name", found.distance_name},
              {"value", found.distance},
              {"extractor", found.extractor},
              {"extractor_hash", found.extractor_hash}}},
            {"nfe", found.nfe},
            {"r", found.options.r ? Json(*found.options.r) : Json()},
            {"seed", seed},
            {"seconds", found.seconds},
            {"images_per_second", found.images_per_second()}};
  if (found.kernel)
    json["kernel_distance"] = {{"name", found.kernel->name},
                               {"value", found.kernel->mean},
                               {"deviation", found.kernel->deviation},
                               {"subsets", found.kernel->subsets},
                               {"subset_size", found.kernel->subset_size}};
  if (found.recognition)
    json["recognised"] = {{"confidence", found.recognition->confidence},
                          {"share", found.recognition->share},
                          {"by_class", found.recognition->by_class}};
  if (found.floor) json["floor"] = json_of(*found.floor);
  if (found.nearest)
    json["nearest"] = {{"made", found.nearest->made}, {"held_out", found.nearest->held_out}};
  return json;
}

std::string text_report(const ImageEvaluation& found, uint64_t seed) {
  std::string text = fmt::format("{:<16}{:.4f}\n", found.distance_name, found.distance);
  if (found.floor)
    text += fmt::format("{:<16}{} {:.4f}: what the codes alone cost; {}\n", "floor",
                        found.distance_name, *found.floor->distance, text_of(*found.floor));
  if (found.kernel)
    text += fmt::format("{:<16}{:.5f} ± {:.5f} ({} subsets of {} images)\n", found.kernel->name,
                        found.kernel->mean, found.kernel->deviation, found.kernel->subsets,
                        found.kernel->subset_size);
  text += fmt::format("{:<16}{} made, {:.1f} a second\n", "images", found.images,
                      found.images_per_second());
  text += fmt::format("{:<16}{} network calls an image, {}seed {}\n", "sampler", found.nfe,
                      found.options.r ? fmt::format("r = {:g}, ", *found.options.r) : "", seed);
  text += fmt::format("{:<16}{} ({})\n", "extractor", found.extractor, found.extractor_hash);
  if (found.recognition) {
    text +=
        fmt::format("{:<16}{:.1f} % of the images, with a confidence above {:g}; by class",
                    "recognised", 100 * found.recognition->share, found.recognition->confidence);
    for (const double share : found.recognition->by_class)
      text += fmt::format(" {:.1f}", 100 * share);
    text += " %\n";
  }
  if (found.nearest)
    text += fmt::format(
        "{:<16}{:.1f} of 255 is the median distance to the nearest training image; {:.1f} that of "
        "held-out images\n",
        "nearest", found.nearest->made, found.nearest->held_out);
  return text;
}

}  // namespace

fs::path images_folder(const ModelSettings& model, const ImageMeasuring& measuring) {
  if (!measuring.data.empty()) return measuring.data;
  require_option(train::RunFolder::is_one(model.folder),
                 "'{}' is not a training run: name the images to compare with, --data DIR",
                 model.folder.string());
  const train::RunFolder run = train::RunFolder::open(model.folder);
  return task::data_folder(task::StoredRecipe(run).recipe, run.path());
}

void add_image_measuring(CLI::App& command, ImageMeasuring& measuring) {
  command
      .add_option("--count", measuring.count,
                  "how many images to make; with an autoencoder: to code and make again")
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
      .add_option(
          "--reconstructions", measuring.reconstructions,
          "with an autoencoder: picture of held-out images, each beside what came back of it")
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
  const fs::path data = images_folder(model, measuring);
  const Engine engine(model.folder, model.load_options(globals));
  options_in_effect(engine, settings.options);
  const Images size = engine.image_size();
  ImageEvaluationOptions options{.count = measuring.count,
                                 .features = measuring.features,
                                 .statistics = measuring.statistics,
                                 .sampling = settings.options,
                                 .label = settings.label,
                                 .seed = globals.seed,
                                 .kernel = measuring.kernel,
                                 .nearest = !measuring.nearest.empty()};
  std::optional<image::NpzWriter> npz;
  if (!measuring.npz.empty()) {
    npz.emplace(measuring.npz);
    npz->begin("images", at::kByte, {measuring.count, size.height, size.width, size.channels});
    options.take = [&](const Images& some) {
      npz->append(engine::to_pictures(some).permute({0, 2, 3, 1}).contiguous());
    };
  }
  log::info("measuring {}", engine.folder().string());
  const ImageEvaluation found = tessera::evaluate_images(engine, data, options);
  if (npz) npz->commit();
  for (const std::string& warning : found.warnings) log::warn("{}", warning);
  if (found.nearest)
    image::write_png(measuring.nearest,
                     image::grid(engine::to_pictures(found.nearest->pairs), 8, 2, 2));
  if (globals.json)
    print_json(json_report(found, engine, globals.seed));
  else
    std::cout << text_report(found, globals.seed);
}

}  // namespace tessera::app
