#include "image/dataset.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <tessera/files/safetensors.h>

#include <fmt/ranges.h>

#include <utility>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;

Split open_split(const fs::path& path, int64_t count, const Manifest& manifest) {
  const safetensors::File file(path);
  const int64_t classes = static_cast<int64_t>(manifest.classes.size());
  at::Tensor images = file.tensor("images");
  at::Tensor labels = classes > 0 ? file.tensor("labels") : at::Tensor();
  require_same_dtype(images, at::kByte, "images");
  require_shape(images, {count, manifest.channels, manifest.height, manifest.width}, "images");
  if (labels.defined()) {
    require_labels(labels, "labels");
    require_shape(labels, {count}, "labels");
    require(
        count == 0 || (labels.min().item<int64_t>() >= 0 && labels.max().item<int64_t>() < classes),
        "there are labels that are not one of 0 to {}", classes - 1);
  }
  return {std::move(images), std::move(labels)};
}

}  // namespace

Split::Split(at::Tensor images, at::Tensor labels)
    : images_(std::move(images)), labels_(std::move(labels)) {}

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

const Split& Dataset::split(const std::string& name) const {
  const auto found = splits_.find(name);
  if (found != splits_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, split] : splits_) names.push_back(known);
  throw Error(fmt::format("the data set '{}' has no split '{}', only: {}", folder_.string(), name,
                          fmt::join(names, ", ")));
}

}  // namespace tessera::image
