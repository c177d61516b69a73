#include "image_model/image_folder.h"

#include "base/numerals.h"
#include "base/require.h"
#include "files/files.h"
#include "files/json_file.h"
#include "files/own_file.h"
#include "files/unchanged_files.h"
#include "image_model/autoencoder_folder.h"

#include <tessera/files/safetensors.h>

#include <fmt/format.h>

namespace tessera::image_model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kSampleCommand =
    "```\ntessera sample THIS_FOLDER --count 64 --grid grid.png\n```\n";

using Stored = StoredOptions<ImageModelOptions, SamplingOptions>;

std::string summary_of(const ImageModel& model) {
  const ImageShape &shape = model.picture_shape(), &grid = model.shape();
  const std::string codes = model.decoder() == nullptr
                                ? ""
                                : fmt::format(" by an autoencoder's {} x {} codes of {},",
                                              grid.width, grid.height, grid.symbols);
  return fmt::format(
      "A model of images of {} x {} pixels and {},{} coded as {}, by {}: {} parameters.",
      shape.width, shape.height, counted(shape.channels, "colour"), codes,
      name_of(model.options().coding.kind), model.family().summary(),
      with_commas(model.parameters().count()));
}

}  // namespace

void write_image_folder(const fs::path& folder, const ImageModel& model, const at::Tensor& weights,
                        const std::vector<std::string>& classes, const SamplingOptions& sampling,
                        const ModelCard& card) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw file_error("make the folder", folder, failure.value());
  const Stored options(model.options(), sampling);
  const ImageShape& shape = model.shape();
  refuse_link(folder / kModelWeightsFile);
  safetensors::save(folder / kModelWeightsFile, model.parameters().named(weights));
  write_model_card(folder, card, summary_of(model), kSampleCommand, options.schema);
  Json facts{{"channels", shape.channels},
             {"height", shape.height},
             {"width", shape.width},
             {"classes", classes}};
  if (model.decoder() != nullptr) {
    facts["codes"] = shape.symbols;
    save_autoencoder(folder / kAutoencoderFile, *model.decoder());
  }
  write_model_config(folder, kImageKind, facts, options.schema);
}

LoadedImageModel load_image_folder(const fs::path& folder, at::Device device,
                                   nn::Precision precision) {
  require_model_folder(folder);
  require_unchanged_files(folder);
  Stored options;
  const Json json = read_model_config(folder, kImageKind, options.schema);
  ImageShape shape;
  LoadedImageModel loaded;
  try {
    json.at("channels").get_to(shape.channels);
    json.at("height").get_to(shape.height);
    json.at("width").get_to(shape.width);
    json.at("classes").get_to(loaded.classes);
    if (json.contains("codes")) json.at("codes").get_to(shape.symbols);
  } catch (const Json::exception& error) {
    throw Error(fmt::format("'{}' is broken: {}", (folder / kModelConfigFile).string(),
                            json_problem(error)));
  }
  std::shared_ptr<const Autoencoder> decoder;
  if (json.contains("codes")) decoder = load_autoencoder(folder / kAutoencoderFile, device);
  const safetensors::File weights(folder / kModelWeightsFile);
  try {
    loaded.model = std::make_unique<ImageModel>(options.model, shape,
                                                static_cast<int64_t>(loaded.classes.size()), device,
                                                precision, weights, FamilyMaker(), decoder);
  } catch (const Error& error) {
    throw Error(fmt::format("'{}': {}", (folder / kModelConfigFile).string(), error.what()),
                error.hint());
  }
  loaded.sampling = options.use;
  return loaded;
}

}  // namespace tessera::image_model
