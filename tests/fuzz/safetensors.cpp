#include <tessera/files/safetensors.h>

#include "fuzz/reading.h"
#include "fuzz/targets.h"

namespace tessera::fuzz {

void fuzz_safetensors(std::string_view input) {
  const auto path = put("input.safetensors", input);
  attempt([&] {
    const safetensors::File file(path);
    const safetensors::Tensors tensors = file.tensors();
    for (const auto& [name, tensor] : tensors) touch(tensor);
    const auto again = work_folder() / "again.safetensors";
    safetensors::save(again, tensors, file.metadata());
    const safetensors::File second(again);
    expect(second.names() == file.names() && second.metadata() == file.metadata(),
           "a file that was written is read as it was");
  });
}

}  // namespace tessera::fuzz
