#include "base/numerals.h"
#include "files/model_files.h"
#include "image/dataset.h"
#include "image_model/autoencoder_folder.h"
#include "image_model/image_folder.h"
#include "inspection.h"
#include "process/boundary_statistics.h"
#include "text_chart.h"

#include <tessera/tensor/random.h>

#include <ATen/ATen.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tessera::app {
namespace {

constexpr int64_t kRandomValues = 10000;

// Arbitrary values, for what does not depend on the images.
at::Tensor random_values(const image_model::ImageModel& model, uint64_t seed) {
  return random_integers({seed, Purpose::validation, 1}, at::arange(kRandomValues, at::kLong), 0,
                         model.codebook().decodable() - 1);
}

// Stopping times: cells of pixels do not depend on the images.
Report boundary_report(const image_model::ImageModel& model, uint64_t seed) {
  const Process* const process = model.family().process();
  if (process == nullptr) return nullptr;
  const at::Tensor values = random_values(model, seed);
  const BoundaryStatistics found =
      boundary_statistics(*process, model.codebook(), {}, values, seed);
  return {{"data", nullptr},
          {"reason", "the cells are the same for all images"},
          {"tokens", found.tokens},
          {"outside", found.outside},
          {"no_exit", found.no_exit},
          {"mean", found.mean},
          {"histogram", found.histogram}};
}

Report values_noise_report(const image_model::ImageModel& model, uint64_t seed) {
  const auto* const symbols = dynamic_cast<const SymbolFamily*>(&model.family());
  if (symbols == nullptr) return nullptr;
  Report report{{"data", nullptr}, {"reason", "as if all values were equally frequent"}};
  report.update(noise_report(*symbols, random_values(model, seed)));
  return report;
}

}  // namespace

Report inspect_image_model(const std::filesystem::path& folder, const ModelInspection& inspection) {
  const image_model::LoadedImageModel loaded =
      image_model::load_image_folder(folder, inspection.device, nn::Precision::float32);
  const image_model::ImageModel& model = *loaded.model;
  const image_model::ImageShape &shape = model.picture_shape(), &grid = model.shape();
  Report codes;
  if (model.decoder() != nullptr)
    codes = {{"width", grid.width}, {"height", grid.height}, {"symbols", grid.symbols}};
  return {{"folder", folder.string()},
          {"kind", image_model::kImageKind},
          {"format", parse_model_config(folder).at("format")},
          {"bytes", std::filesystem::file_size(folder / kModelWeightsFile)},
          {"parameters", parameters_report(model.parameters())},
          {"coding", name_of(model.options().coding.kind)},
          {"channels", shape.channels},
          {"height", shape.height},
          {"width", shape.width},
          {"codes", codes},
          {"classes", loaded.classes},
          {"conditional", model.classes() > 0},
          {"boundary", boundary_report(model, inspection.seed)},
          {"noise", values_noise_report(model, inspection.seed)}};
}

Report inspect_autoencoder(const std::filesystem::path& folder, const ModelInspection& inspection) {
  const auto model = image_model::load_autoencoder_folder(folder, inspection.device);
  const image_model::ImageShape &shape = model->shape(), grid = model->grid();
  return {{"folder", folder.string()},
          {"kind", image_model::kAutoencoderKind},
          {"format", parse_model_config(folder).at("format")},
          {"bytes", std::filesystem::file_size(folder / kModelWeightsFile)},
          {"parameters", parameters_report(model->parameters())},
          {"channels", shape.channels},
          {"height", shape.height},
          {"width", shape.width},
          {"codes", grid.symbols},
          {"code_height", grid.height},
          {"code_width", grid.width}};
}

Report inspect_dataset(const std::filesystem::path& folder) {
  const image::Dataset dataset(folder);
  const image::Manifest& manifest = dataset.manifest();
  Report splits = Report::object();
  for (const auto& [name, count] : manifest.splits) {
    const image::Split& split = dataset.split(name);
    const at::Tensor values = split.images().slice(0, 0, 1000).to(at::kDouble);
    splits[name] = {{"images", count},
                    {"mean", values.mean().item<double>()},
                    {"deviation", values.std().item<double>()}};
    if (split.labels().defined()) {
      const at::Tensor counts =
          at::bincount(split.labels(), {}, static_cast<int64_t>(dataset.classes().size()));
      splits[name]["by_class"] = std::vector<int64_t>(
          counts.const_data_ptr<int64_t>(), counts.const_data_ptr<int64_t>() + counts.numel());
    }
  }
  return {{"kind", "images"},
          {"path", folder.string()},
          {"fingerprint", dataset.fingerprint()},
          {"channels", dataset.channels()},
          {"height", dataset.height()},
          {"width", dataset.width()},
          {"codes", manifest.codes ? Report(manifest.codes->symbols) : Report()},
          {"classes", dataset.classes()},
          {"splits", splits},
          {"options", manifest.options}};
}

std::string dataset_text(const Report& report) {
  const std::string content = report["codes"].is_null()
                                  ? (report["channels"] == 1 ? "grey" : "RGB")
                                  : fmt::format("codes of {}", report["codes"].get<int64_t>());
  std::string text =
      fmt::format("images {}: {} x {}, {}\n  fingerprint {}\n", report["path"].get<std::string>(),
                  report["width"].get<int64_t>(), report["height"].get<int64_t>(), content,
                  report["fingerprint"].get<std::string>());
  const auto classes = report["classes"].get<std::vector<std::string>>();
  text += classes.empty()
              ? "  no classes\n"
              : fmt::format("  {}: {}\n", counted(std::ssize(classes), "class", "classes"),
                            fmt::join(classes, ", "));
  text += "\n  split       images     mean  deviation (of 1,000 images)\n";
  for (const auto& [name, split] : report["splits"].items()) {
    text += fmt::format("  {:<8} {:>9} {:>8.2f} {:>10.2f}", name,
                        with_commas(split["images"].get<int64_t>()), split["mean"].get<double>(),
                        split["deviation"].get<double>());
    if (split.contains("by_class"))
      text += fmt::format("   by class {}",
                          fmt::join(split["by_class"].get<std::vector<int64_t>>(), " "));
    text += "\n";
  }
  return text;
}

}  // namespace tessera::app
