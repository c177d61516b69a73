#include "image/prepare.h"

#include "base/numerals.h"
#include "base/require.h"
#include "image/cifar10.h"
#include "image/dataset_writer.h"
#include "image/idx.h"
#include "image/png_folder.h"

namespace tessera::image {
namespace {

ImageSet read_set(const PrepareOptions& options) {
  std::error_code ignored;
  require(std::filesystem::is_directory(options.from, ignored), "there is no folder '{}'",
          options.from.string());
  switch (options.format) {
    case Format::cifar10:
      return read_cifar10(options.from);
    case Format::idx:
      return read_idx(options.from);
    case Format::png:
      break;
  }
  return read_png_folder(options.from);
}

// Whether the last training images can be held out.
void check_valid(const ImageSet& set, const PrepareOptions& options) {
  if (options.valid == 0) return;
  if (set.parts.contains("valid"))
    throw Error(fmt::format("'{}' has images to validate with already", options.from.string()),
                "leave --valid out");
  const auto train = set.parts.find("train");
  require(train != set.parts.end(), "'{}' has no training images to hold some out of",
          options.from.string());
  // They are sorted by class: the last ones would all be of one class.
  if (options.format == Format::png && !set.classes.empty())
    throw Error("PNGs with classes are in the order of these: the last are no fair sample",
                "move the images to validate with into folders valid/CLASS, the others into "
                "train/CLASS");
  const int64_t size = train->second.images->size();
  require(options.valid < size, "{} cannot be held out: there {} {} to train on",
          counted(options.valid, "image"), size == 1 ? "is" : "are", size);
}

}  // namespace

Manifest prepare(const PrepareOptions& options) {
  require_option(options.valid >= 0, "the number of images to hold out must be 0 or more, got {}",
                 options.valid);
  const auto existing =
      options.replace ? DatasetWriter::Existing::replace : DatasetWriter::Existing::refuse;
  DatasetWriter::check_folder(options.out, existing);
  const ImageSet set = read_set(options);
  check_valid(set, options);

  DatasetWriter writer(options.out, set.classes, existing);
  for (const auto& [name, part] : set.parts) {
    const int64_t size = part.images->size();
    const int64_t kept = name == "train" ? size - options.valid : size;
    writer.add_split(name, *part.images, part.labels, 0, kept);
    if (kept < size) writer.add_split("valid", *part.images, part.labels, kept, size);
  }
  return writer.commit({{"images", std::string(name_of(options.format))},
                        {"from", options.from.string()},
                        {"valid", std::to_string(options.valid)}});
}

}  // namespace tessera::image
