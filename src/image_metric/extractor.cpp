#include "image_metric/extractor.h"

#include "base/require.h"
#include "files/hash.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/value_checks.h>

#include <torch/script.h>

#include <mutex>
#include <optional>

namespace tessera::image_metric {
namespace {

// LibTorch's errors are pages long; the cause follows the last "Error: ", on one line.
std::string essence(const std::exception& error) {
  const auto* ours = dynamic_cast<const c10::Error*>(&error);
  std::string text = ours != nullptr ? ours->what_without_backtrace() : error.what();
  if (const auto mark = text.rfind("Error: "); mark != std::string::npos) text.erase(0, mark + 7);
  text.erase(0, text.find_first_not_of(" \n"));
  text.erase(std::min(text.find('\n'), text.size()));
  constexpr size_t kLongest = 240;
  if (text.size() > kLongest) text = text.substr(0, kLongest) + "...";
  return text;
}

constexpr const char* kSaveAgain =
    "save the network in Python with torch.jit.script(network).save(file)";

std::string described(const c10::IValue& value) {
  if (!value.isTensor()) return "a " + value.tagKind();
  const at::Tensor& x = value.toTensor();
  return fmt::format("{} {}", c10::toString(x.scalar_type()), shape_text(x.sizes()));
}

}  // namespace

struct Extractor::Network {
  torch::jit::Module module;
  bool must_ask = false;  // forward gives features only when asked
  std::mutex mutex;       // a graph is compiled at its first calls
};

Extractor::Extractor(const std::filesystem::path& file, at::Device device, at::ScalarType precision)
    : network_(std::make_unique<Network>()),
      file_name_(file.filename().string()),
      device_(device),
      precision_(precision) {
  require_option(precision == at::kFloat || precision == at::kHalf,
                 "an extractor computes in float32 or float16");
  std::error_code ignored;
  if (!std::filesystem::is_regular_file(file, ignored))
    throw Error(fmt::format("there is no file '{}'", file.string()),
                "give the TorchScript file of a network that turns images into features");
  hash_ = file_hash(file);
  try {
    network_->module = torch::jit::load(file.string(), device);
  } catch (const std::exception&) {  // its text is pages long
    throw Error(fmt::format("'{}' is no TorchScript file, or is damaged or cut off", file.string()),
                kSaveAgain);
  }
  try {
    network_->module.eval();
    if (precision == at::kHalf) network_->module.to(at::kHalf);
    const auto forward = network_->module.find_method("forward");
    require(forward.has_value(), "it has no method 'forward'");
    network_->must_ask =
        forward->function().getSchema().argumentIndexWithName("return_features").has_value();
  } catch (const std::exception& error) {
    throw Error(fmt::format("'{}' is no TorchScript file that can be used: {}", file.string(),
                            essence(error)),
                kSaveAgain);
  }
}

Extractor::~Extractor() = default;
Extractor::Extractor(Extractor&&) noexcept = default;
Extractor& Extractor::operator=(Extractor&&) noexcept = default;

bool Extractor::has_logits() const {
  return network_->module.find_method("logits").has_value();
}

at::Tensor Extractor::call(const std::string& method, const at::Tensor& images) const {
  require_defined(images, "images");
  require(images.dim() == 4 && images.scalar_type() == at::kByte && images.numel() > 0,
          "images must be uint8 [N, C, H, W], got {} {}", c10::toString(images.scalar_type()),
          shape_text(images.sizes()));
  const c10::NoGradGuard no_grad;
  const std::lock_guard lock(network_->mutex);
  const at::Tensor input = images.to(device_, precision_);
  c10::IValue output;
  try {
    std::unordered_map<std::string, c10::IValue> named;
    if (network_->must_ask && method == "forward") named["return_features"] = true;
    output = network_->module.get_method(method)({input}, named);
  } catch (const std::exception& error) {
    throw Error(fmt::format("the extractor '{}' fails on images of shape {}: {}", file_name_,
                            shape_text(images.sizes()), essence(error)),
                "does it take images of this size and number of channels?");
  }
  const bool fits = output.isTensor() && output.toTensor().dim() == 2 &&
                    output.toTensor().size(0) == images.size(0) && output.toTensor().size(1) > 0 &&
                    output.toTensor().is_floating_point();
  if (!fits)
    throw Error(fmt::format("the extractor '{}' turns {} images into {}, not into [{}, D] floating-"
                            "point numbers",
                            file_name_, images.size(0), described(output), images.size(0)),
                "it must give one vector of features for every image");
  const at::Tensor result = output.toTensor().to(at::kFloat);
  check_finite(result, fmt::format("what the extractor '{}' gives", file_name_));
  return result;
}

at::Tensor Extractor::features(const at::Tensor& images) const {
  return call("forward", images);
}

at::Tensor Extractor::logits(const at::Tensor& images) const {
  require(has_logits(), "the extractor '{}' has no method 'logits'", file_name_);
  return call("logits", images);
}

at::Tensor Extractor::class_probabilities(const at::Tensor& images) const {
  return logits(images).softmax(1);
}

}  // namespace tessera::image_metric
