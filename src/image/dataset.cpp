#include "image/dataset.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <tessera/files/safetensors.h>

#include <fmt/ranges.h>

#include <utility>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;

// Numbers 0 .. count - 1.
void require_range(const at::Tensor& numbers, int64_t count, const char* what) {
  require(numbers.numel() == 0 ||
              (numbers.min().item<int64_t>() >= 0 && numbers.max().item<int64_t>() < count),
          "there are {} that are not one of 0 to {}", what, count - 1);
}

Split open_split(const fs::path& path, int64_t count, const Manifest& manifest) {
  const safetensors::File file(path);
  const int64_t classes = static_cast<int64_t>(manifest.classes.size());
  const auto grids = [&](const char* name, at::ScalarType dtype) {
    at::Tensor tensor = file.tensor(name);
    require_same_dtype(tensor, dtype, name);
    require_shape(tensor, {count, manifest.channels, manifest.height, manifest.width}, name);
    if (manifest.codes) require_range(tensor, manifest.codes->symbols, name);
    return tensor;
  };
  at::Tensor labels = classes > 0 ? file.tensor("labels") : at::Tensor();
  at::Tensor mirrored = manifest.codes ? grids("mirrored", at::kShort) : at::Tensor();
  at::Tensor images = manifest.codes ? grids("codes", at::kShort) : grids("images", at::kByte);
  if (labels.defined()) {
    require_labels(labels, "labels");
    require_shape(labels, {count}, "labels");
    require_range(labels, classes, "labels");
  }
  return {std::move(images), std::move(labels), std::move(mirrored)};
}

}  // namespace

Split::Split(at::Tensor images, at::Tensor labels, at::Tensor mirrored)
    : images_(std::move(images)), labels_(std::move(labels)), mirrored_(std::move(mirrored)) {}

Dataset::Dataset(const fs::path& folder, bool verify_contents)
    : folder_(folder), manifest_(Manifest::load(folder)), fingerprint_(manifest_.fingerprint()) {
  manifest_.check_files(folder_, verify_contents);
  for (const auto& [name, count] : manifest_.splits) {
    try {
      splits_.emplace(name, open_split(folder_ / split_file(name), count, manifest_));
    } catch (const Error& failure) {
      throw Error(fmt::format("the data set '{}' is damaged: '{}': {}", folder_.string(),
                              split_file(name), failure.what()),
                  "run `tessera prepare --images` again");
    }
  }
}

void Dataset::require_pixels(const std::string& purpose) const {
  if (!holds_codes()) return;
  throw Error(
      fmt::format("'{}' holds codes of images, and {} needs pixels", folder_.string(), purpose),
      "name the data set that the codes were made from");
}

const Split& Dataset::split(const std::string& name) const {
  const auto found = splits_.find(name);
  if (found != splits_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, split] : splits_) names.push_back(known);
  throw Error(fmt::format("the data set '{}' has no split '{}', only: {}", folder_.string(), name,
                          fmt::join(names, ", ")));
}

const Split& Dataset::held_out() const {
  for (const char* name : {"valid", "test"})
    if (has_split(name)) return split(name);
  throw Error(
      fmt::format("'{}' has no images to validate on, only those to train on", folder_.string()),
      "hold some out: `tessera prepare --images ... --valid N`");
}

}  // namespace tessera::image
