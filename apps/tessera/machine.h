#pragma once

#include <cstdint>
#include <string>

namespace tessera::app {

// Memory of the machine, or of the container the program runs in where that is less. Bytes; 0 where
// the system does not say.
struct Memory {
  uint64_t total = 0;
  uint64_t available = 0;  // without pushing anything out
};
Memory memory();

std::string bytes_text(uint64_t bytes);  // "31.2 GiB"

// Whether a driver for NVIDIA devices is loaded.
bool has_nvidia_driver();

}  // namespace tessera::app
