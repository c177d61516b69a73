#include "image/image_array.h"

#include "base/require.h"
#include "files/files.h"
#include "image/npy.h"
#include "image/zip.h"

#include <ATen/ops/from_blob.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera::image {
namespace {

constexpr const char* kImageType = "|u1";

std::string describe(const std::string& name, const NpyHeader& header) {
  return fmt::format("{} ({} [{}])", name, header.type, fmt::join(header.shape, ", "));
}

bool may_be_images(const NpyHeader& header) {
  return header.type == kImageType && header.shape.size() == 4;
}

// Where the images' .npy lies within the bytes of an archive.
std::string_view find_in_archive(std::string_view archive) {
  std::vector<std::string> all;
  std::optional<ZipEntry> found;
  int64_t candidates = 0;
  for (const ZipEntry& entry : zip_entries(archive)) {
    if (!entry.name.ends_with(".npy")) continue;
    if (!entry.stored)
      throw Error(fmt::format("its array '{}' is compressed", entry.name),
                  "write it with numpy.savez, which does not compress");
    const NpyHeader header = parse_npy(archive.substr(entry.begin, entry.size));
    all.push_back(describe(entry.name, header));
    if (!may_be_images(header)) continue;
    found = entry;
    ++candidates;
  }
  require(candidates == 1,
          "it has {} arrays that could be images (uint8 with four dimensions), "
          "not one; its arrays: {}",
          candidates, fmt::join(all, ", "));
  return stored_bytes(archive, *found);
}

at::Tensor images_of(const std::filesystem::path& path) {
  auto file = std::make_shared<MappedFile>(path, MappedFile::Pages::copy_on_write);
  const std::string_view npy =
      path.extension() == ".npz" ? find_in_archive(file->view()) : file->view();
  const NpyHeader header = parse_npy(npy);
  if (!may_be_images(header))
    throw Error(fmt::format("it holds {} [{}], not an array of images", header.type,
                            fmt::join(header.shape, ", ")),
                "images are uint8 ('|u1'), [N, H, W, C] or [N, C, H, W]");
  if (header.fortran_order)
    throw Error("its array is in Fortran's order", "save numpy.ascontiguousarray(images) instead");
  require(*std::min_element(header.shape.begin(), header.shape.end()) > 0,
          "it holds no images: [{}]", fmt::join(header.shape, ", "));
  char* const data = file->writable_data() + (npy.data() - file->data()) +
                     static_cast<ptrdiff_t>(header.data_start);
  const at::Tensor array = at::from_blob(
      data, header.shape, [file](void*) {}, at::TensorOptions().dtype(at::kByte));
  const auto colours = [](int64_t side) { return side == 1 || side == 3; };
  if (colours(header.shape[3])) return array.permute({0, 3, 1, 2});
  require(colours(header.shape[1]),
          "its array [{}] has no dimension of 1 or 3 channels, last or after the first",
          fmt::join(header.shape, ", "));
  return array;
}

}  // namespace

at::Tensor map_image_array(const std::filesystem::path& path) {
  try {
    return images_of(path);
  } catch (const Error& failure) {
    throw Error(fmt::format("cannot read images from '{}': {}", path.string(), failure.what()),
                failure.hint());
  }
}

}  // namespace tessera::image
