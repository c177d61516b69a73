#include "image/idx.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"

namespace tessera::fuzz {

void fuzz_idx(std::string_view input) {
  put_parts(parts_of(input),
            {"train-images-idx3-ubyte", "train-labels-idx1-ubyte", "t10k-images-idx3-ubyte",
             "t10k-labels-idx1-ubyte", "train-images-idx3-ubyte.gz"});
  attempt([&] {
    const image::ImageSet set = image::read_idx(work_folder());
    for (const auto& [split, found] : set.parts) {
      touch(found.images->read(0, found.images->size()));
      touch(found.labels);
    }
  });
}

}  // namespace tessera::fuzz
