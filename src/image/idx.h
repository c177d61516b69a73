#pragma once

#include "image/image_set.h"

#include <filesystem>

namespace tessera::image {

// The files of MNIST and its relatives, each plain or with .gz at its end:
//   train-images-idx3-ubyte, train-labels-idx1-ubyte   the split "train"
//   t10k-images-idx3-ubyte, t10k-labels-idx1-ubyte     the split "test"
// Images are grey. The files do not name classes: they are called "0", "1" ... up to the largest
// label of the training split. All is read into memory.
// Throws Error, which names the file, if it is missing, of another kind or cut off, or if labels do
// not fit the images.
ImageSet read_idx(const std::filesystem::path& folder);

}  // namespace tessera::image
