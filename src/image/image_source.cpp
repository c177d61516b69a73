#include "image/image_source.h"

#include "base/require.h"
#include "image/dataset.h"
#include "image/image_array.h"
#include "image/manifest.h"
#include "image/png_folder.h"
#include "tensor/tensor_checks.h"

#include <fmt/ranges.h>

#include <utility>
#include <vector>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;

constexpr const char* kDefaultSplit = "train";

void refuse_split(const fs::path& path, const std::string& split) {
  require(split.empty(), "'{}' has no splits: there is no '{}' in it", path.string(), split);
}

std::shared_ptr<const ImageSource> open_png_folder(const fs::path& folder,
                                                   const std::string& split) {
  const ImageSet set = read_png_folder(folder);
  if (!has_png_splits(folder)) {
    refuse_split(folder, split);
    return set.parts.begin()->second.images;
  }
  const auto found = set.parts.find(split.empty() ? kDefaultSplit : split);
  if (found != set.parts.end()) return found->second.images;
  std::vector<std::string> names;
  for (const auto& [name, part] : set.parts) names.push_back(name);
  throw Error(fmt::format("'{}' has no split '{}', only: {}", folder.string(),
                          split.empty() ? kDefaultSplit : split, fmt::join(names, ", ")));
}

}  // namespace

ImageSource::ImageSource(int64_t size, int64_t channels, int64_t height, int64_t width)
    : size_(size), channels_(channels), height_(height), width_(width) {}

at::Tensor ImageSource::read(int64_t begin, int64_t end) const {
  require(0 <= begin && begin <= end && end <= size_,
          "images {} to {} were asked for, there are {}", begin, end, size_);
  return read_range(begin, end);
}

std::shared_ptr<const ImageSource> ImageSource::open(const fs::path& path,
                                                     const std::string& split) {
  std::error_code ignored;
  require(fs::exists(path, ignored), "there is no '{}'", path.string());
  if (fs::is_directory(path, ignored)) {
    if (!fs::exists(path / Manifest::kFileName, ignored)) return open_png_folder(path, split);
    const Dataset dataset(path);
    dataset.require_pixels("a set of images");
    return std::make_shared<TensorImages>(
        dataset.split(split.empty() ? kDefaultSplit : split).images());
  }
  if (path.extension() != ".npy" && path.extension() != ".npz")
    throw Error(fmt::format("cannot read images from '{}'", path.string()),
                "name a folder of PNGs, a folder that `tessera prepare --images` made, or an array "
                "of images in a .npy or .npz file");
  refuse_split(path, split);
  return std::make_shared<TensorImages>(map_image_array(path));
}

TensorImages::TensorImages(at::Tensor images)
    : ImageSource(images.size(0), images.size(1), images.size(2), images.size(3)),
      images_(std::move(images)) {
  require_same_dtype(images_, at::kByte, "images");
}

at::Tensor TensorImages::read_range(int64_t begin, int64_t end) const {
  return images_.slice(0, begin, end).contiguous();
}

}  // namespace tessera::image
