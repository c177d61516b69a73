#pragma once

#include "image/image_set.h"

#include <filesystem>

namespace tessera::image {

// A folder of PNGs, all of one size, 8-bit grey or RGB:
//   FOLDER/*.png           no classes
//   FOLDER/CLASS/*.png     every sub-folder is a class
// If FOLDER has sub-folders train, valid or test, these are its splits, each laid out as above;
// otherwise all images are the split "train". Images are in the order of their names, class by
// class. Files that do not end in .png are left out with a warning, hidden ones without.
// Throws Error, which names what is wrong: here if there are no images; when images are read, for
// files that are not PNGs, have another size, or are of an unsupported kind.
ImageSet read_png_folder(const std::filesystem::path& folder);

bool has_png_splits(const std::filesystem::path& folder);

}  // namespace tessera::image
