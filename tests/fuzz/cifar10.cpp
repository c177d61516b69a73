#include "image/cifar10.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"

namespace tessera::fuzz {

// Parts "train", for all five files of training images, "last" instead for the last of them, and
// "test".
void fuzz_cifar10(std::string_view input) {
  const Parts parts = parts_of(input);
  for (int k = 1; k <= 5; ++k)
    put("data_batch_" + std::to_string(k) + ".bin",
        part(parts, k == 5 && parts.contains("last") ? "last" : "train"));
  put("test_batch.bin", part(parts, "test"));
  attempt([&] {
    const image::ImageSet set = image::read_cifar10(work_folder());
    for (const auto& [split, found] : set.parts) {
      touch(found.images->read(0, found.images->size()));
      touch(found.labels);
    }
  });
}

}  // namespace tessera::fuzz
