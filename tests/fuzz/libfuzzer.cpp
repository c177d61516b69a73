// The same readers under libFuzzer: fuzz_readers TARGET [CORPUS...] [-options of libFuzzer].
#include "fuzz/reading.h"
#include "fuzz/targets.h"

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace {

const tessera::fuzz::Target* chosen = nullptr;

}  // namespace

// The target is the first argument; libFuzzer gets the others.
extern "C" int LLVMFuzzerInitialize(int* count, char*** arguments) {
  chosen = *count > 1 ? tessera::fuzz::find_target((*arguments)[1]) : nullptr;
  if (chosen == nullptr) {
    std::fputs("usage: fuzz_readers TARGET [CORPUS...] [OPTION...]\n", stderr);
    std::exit(2);
  }
  (*arguments)[1] = (*arguments)[0];
  ++*arguments;
  --*count;
  return 0;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  tessera::fuzz::said().clear();
  chosen->read({reinterpret_cast<const char*>(data), size});
  return 0;
}
