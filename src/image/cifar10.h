#pragma once

#include "image/image_set.h"

#include <filesystem>

namespace tessera::image {

// CIFAR-10's binary version: data_batch_1.bin .. data_batch_5.bin become the split "train",
// test_batch.bin becomes "test". A record is a label (one byte, below 10) and an image of
// 3 x 32 x 32, plane by plane. The files stay mapped, not read.
// Throws Error, which names the file, if it is missing or cut off or has a label out of range.
ImageSet read_cifar10(const std::filesystem::path& folder);

}  // namespace tessera::image
