#include "fuzz/reading.h"
#include "fuzz/targets.h"
#include "image_model/autoencoder_folder.h"
#include "image_model/tiny_autoencoder.h"

#include <algorithm>

namespace tessera::fuzz {

// The tensors are those of a small autoencoder: they fit what the seeds say. The first lines are
// what the metadata says, one after the other; the rest are the options.
void fuzz_autoencoder(std::string_view input) {
  static const safetensors::Tensors tensors = [] {
    const std::filesystem::path path = put("whole.safetensors", "");
    image_model::save_autoencoder(path, *test::tiny_autoencoder());
    return safetensors::File(path).tensors();
  }();
  safetensors::Metadata metadata;
  for (const char* key : {"kind", "format", "channels", "height", "width"}) {
    const size_t end = std::min(input.find('\n'), input.size());
    metadata[key] = input.substr(0, end);
    input.remove_prefix(std::min(end + 1, input.size()));
  }
  metadata["options"] = input;
  const std::filesystem::path path = work_folder() / "a.safetensors";
  attempt([&] {
    safetensors::save(path, tensors, metadata);
    image_model::load_autoencoder(path, at::kCPU);
  });
}

}  // namespace tessera::fuzz
