#include "image/cifar10.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"

namespace tessera::fuzz {

// The parts of the input: "train" for the five files of training images, "test", and optionally
// "last", for the fifth file instead of "train".
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
