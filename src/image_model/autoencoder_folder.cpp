#include "image_model/autoencoder_folder.h"

#include "base/numerals.h"
#include "base/require.h"
#include "files/files.h"
#include "files/json_file.h"
#include "files/own_file.h"
#include "files/unchanged_files.h"

#include <tessera/files/safetensors.h>

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include <charconv>
#include <vector>

namespace tessera::image_model {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFileFormat = "1";  // of the file that holds all of an autoencoder
constexpr const char* kWeights = "weights.";
constexpr const char* kState = "state.";
constexpr const char* kEncodeCommand =
    "```\ntessera prepare --images codes --with THIS_FOLDER --from IMAGES --out CODES\n```\n";

// An autoencoder for use, not for training.
std::unique_ptr<Autoencoder> ready_made(const AutoencoderOptions& options, const ImageShape& shape,
                                        at::Device device, const nn::Start& weights) {
  return std::make_unique<Autoencoder>(options, shape, /*variance=*/1, device,
                                       nn::Precision::float32, weights);
}

std::string summary_of(const Autoencoder& model) {
  const ImageShape &shape = model.shape(), grid = model.grid();
  return fmt::format(
      "A VQ autoencoder: images of {} x {} pixels and {} become {} x {} codes of {}: {} "
      "parameters.",
      shape.width, shape.height, counted(shape.channels, "colour"), grid.width, grid.height,
      grid.symbols, with_commas(model.parameters().count()));
}

int64_t number_in(const safetensors::Metadata& metadata, const char* key) {
  const auto found = metadata.find(key);
  int64_t number = 0;
  if (found != metadata.end()) {
    const std::string& text = found->second;
    const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (failure == std::errc() && end == text.data() + text.size()) return number;
  }
  throw Error(fmt::format("its metadata has no number '{}'", key));
}

// Before anything is allocated: whether a network of these options is as large as the file.
void require_fit(const safetensors::File& file, const AutoencoderOptions& options,
                 const ImageShape& shape) {
  const auto is = [&](const std::string& name, std::vector<int64_t> sizes) {
    return file.contains(name) && file.tensor(name).sizes() == at::IntArrayRef(sizes);
  };
  const int64_t width = options.width;
  const std::string last_block =
      fmt::format("{}out.{}.{}.first.weight", kWeights, options.halvings, options.blocks - 1);
  require(is(std::string(kWeights) + "enter.weight", {width, 3, 3, shape.channels}) &&
              is(last_block, {width, 3, 3, width}) &&
              is(std::string(kState) + "codes", {options.quantiser.codes, options.quantiser.width}),
          "its weights do not fit its options");
}

}  // namespace

void write_autoencoder_folder(const fs::path& folder, const Autoencoder& model,
                              const at::Tensor& weights, const ModelCard& card) {
  std::error_code failure;
  fs::create_directories(folder, failure);
  if (failure) throw file_error("make the folder", folder, failure.value());
  AutoencoderOptions options = model.options();
  config::Schema schema;
  declare(schema, options);
  for (const char* file : {kModelWeightsFile, kModelStateFile}) refuse_link(folder / file);
  safetensors::save(folder / kModelWeightsFile, model.parameters().named(weights));
  safetensors::save(folder / kModelStateFile, model.state());
  write_model_card(folder, card, summary_of(model), kEncodeCommand, schema);
  const ImageShape& shape = model.shape();
  write_model_config(
      folder, kAutoencoderKind,
      {{"channels", shape.channels}, {"height", shape.height}, {"width", shape.width}}, schema);
}

std::unique_ptr<Autoencoder> load_autoencoder_folder(const fs::path& folder, at::Device device) {
  require_model_folder(folder);
  require_unchanged_files(folder);
  AutoencoderOptions options;
  config::Schema schema;
  declare(schema, options);
  const Json json = read_model_config(folder, kAutoencoderKind, schema);
  const std::string path = (folder / kModelConfigFile).string();
  ImageShape shape;
  try {
    json.at("channels").get_to(shape.channels);
    json.at("height").get_to(shape.height);
    json.at("width").get_to(shape.width);
  } catch (const Json::exception& error) {
    throw Error(fmt::format("'{}' is broken: {}", path, json_problem(error)));
  }
  const safetensors::File weights(folder / kModelWeightsFile), state(folder / kModelStateFile);
  try {
    auto model = ready_made(options, shape, device, weights);
    model->restore(state, /*prefix=*/"");
    return model;
  } catch (const Error& error) {
    throw Error(fmt::format("'{}': {}", path, error.what()), error.hint());
  }
}

void save_autoencoder(const fs::path& path, const Autoencoder& model) {
  AutoencoderOptions options = model.options();
  config::Schema schema;
  declare(schema, options);
  safetensors::Tensors tensors;
  for (const auto& [name, tensor] : model.parameters().named(model.parameters().values()))
    tensors.emplace(kWeights + name, tensor);
  for (const auto& [name, tensor] : model.state()) tensors.emplace(kState + name, tensor);
  const ImageShape& shape = model.shape();
  refuse_link(path);
  safetensors::save(path, tensors,
                    {{"kind", std::string(kAutoencoderKind)},
                     {"format", kFileFormat},
                     {"channels", std::to_string(shape.channels)},
                     {"height", std::to_string(shape.height)},
                     {"width", std::to_string(shape.width)},
                     {"options", schema.dump()}});
}

std::unique_ptr<Autoencoder> load_autoencoder(const fs::path& path, at::Device device) {
  const safetensors::File file(path);
  try {
    const safetensors::Metadata& metadata = file.metadata();
    const auto text = [&](const char* key) {
      const auto found = metadata.find(key);
      return found == metadata.end() ? std::string() : found->second;
    };
    require(text("kind") == kAutoencoderKind, "it is not an autoencoder");
    if (text("format") != kFileFormat)
      throw Error(
          fmt::format("it has format '{}', and this program reads {}", text("format"), kFileFormat),
          "use the version of tessera that wrote it, or a later one");
    AutoencoderOptions options;
    config::Schema schema;
    declare(schema, options);
    schema.read_text(text("options"), path.string());
    schema.finish();
    const ImageShape shape{.channels = number_in(metadata, "channels"),
                           .height = number_in(metadata, "height"),
                           .width = number_in(metadata, "width")};
    require_fit(file, options, shape);
    auto model = ready_made(options, shape, device, /*seed=*/0);
    nn::Parameters& parameters = model->parameters();
    parameters.read(file, kWeights, parameters.values());
    model->restore(file, kState);
    model->refresh();
    return model;
  } catch (const Error& error) {
    throw Error(fmt::format("'{}': {}", path.string(), error.what()), error.hint());
  }
}

}  // namespace tessera::image_model
