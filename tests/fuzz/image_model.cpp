#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "image_model/image_folder.h"
#include "image_model/tiny_image_model.h"

namespace tessera::fuzz {

// The weights are those of a small model and fit the seeds.
void fuzz_image_model(std::string_view input) {
  static const bool written = [] {
    test::write_tiny_image_model(work_folder());
    return true;
  }();
  (void)written;
  put(kModelConfigFile, input);
  attempt([&] { image_model::load_image_folder(work_folder(), at::kCPU, nn::Precision::float32); });
}

}  // namespace tessera::fuzz
