#include "evaluate_codes.h"

#include "base/log.h"
#include "base/require.h"
#include "engine/image_engine.h"
#include "image/grid.h"
#include "image/png.h"
#include "print_json.h"

#include <tessera/evaluation/autoencoder_evaluation.h>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <iostream>
#include <set>

namespace tessera::app {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kShown = 32;       // images of the picture
constexpr int64_t kGridColumns = 8;  // of the picture: four images beside what came back of them

Json json_report(const AutoencoderEvaluation& found, const ModelSettings& model) {
  Json json{{"kind", "autoencoder"},
            {"model", model.folder.string()},
            {"floor", json_of(found.training)},
            {"held_out", json_of(found.held_out)}};
  if (found.training.distance)
    json["distance"] = {{"name", found.distance_name},
                        {"value", *found.training.distance},
                        {"extractor", found.extractor},
                        {"extractor_hash", found.extractor_hash}};
  return json;
}

std::string text_report(const AutoencoderEvaluation& found) {
  std::string text;
  if (found.training.distance)
    text += fmt::format(
        "{:<16}{:.4f}  of training images that came back: the floor of models of "
        "these codes\n",
        found.distance_name, *found.training.distance);
  text += fmt::format("{:<16}{}\n", "training", text_of(found.training));
  text += fmt::format("{:<16}{}\n", "held out", text_of(found.held_out));
  if (found.training.distance)
    text += fmt::format("{:<16}{} ({})\n", "extractor", found.extractor, found.extractor_hash);
  return text;
}

}  // namespace

Json json_of(const Reconstruction& found) {
  return {{"images", found.images},
          {"distance", found.distance ? Json(*found.distance) : Json()},
          {"error", found.error},
          {"psnr", found.psnr},
          {"codes", found.codes},
          {"codes_used", found.codes_used},
          {"perplexity", found.perplexity}};
}

std::string text_of(const Reconstruction& found) {
  return fmt::format(
      "PSNR {:.2f} dB, {} of {} codes in use ({:.1f} %), perplexity {:.1f}; {} images", found.psnr,
      found.codes_used, found.codes, 100 * found.share_used(), found.perplexity, found.images);
}

void require_measures_codes(const CLI::App& evaluate) {
  static const std::set<std::string> known{"folder",     "--checkpoint",     "--data",
                                           "--features", "--stats",          "--count",
                                           "--help",     "--reconstructions"};
  for (const CLI::Option* option : evaluate.get_options())
    require_option(option->count() == 0 || known.contains(option->get_name()),
                   "{} is not for autoencoders", option->get_name());
}

void evaluate_codes(const ModelSettings& model, const ImageMeasuring& measuring,
                    const GlobalOptions& globals) {
  const std::filesystem::path data = images_folder(model, measuring);
  log::info("measuring {}", model.folder.string());
  const AutoencoderEvaluation found =
      evaluate_autoencoder(model.folder, data,
                           {.count = measuring.count,
                            .features = measuring.features,
                            .statistics = measuring.statistics,
                            .shown = measuring.reconstructions.empty() ? 0 : kShown,
                            .load = {.device = globals.device, .checkpoint = model.checkpoint}});
  if (!measuring.reconstructions.empty())
    image::write_png(measuring.reconstructions,
                     image::grid(engine::to_pictures(found.pairs), kGridColumns, 2, 2));
  if (globals.json)
    print_json(json_report(found, model));
  else
    std::cout << text_report(found);
}

}  // namespace tessera::app
