#pragma once

#include <tessera/base/api.h>

#include <string>

namespace tessera {

TESSERA_API std::string version();  // "0.1.0"

// Versions of LibTorch and CUDA, and the instruction set the CPU kernels use here, one per line.
TESSERA_API std::string build_summary();

}  // namespace tessera
