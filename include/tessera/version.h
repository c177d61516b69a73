#pragma once

#include <string>

namespace tessera {

std::string version();  // "0.1.0"

// Versions of LibTorch and CUDA, and the instruction set the CPU kernels use here, one per line.
std::string build_summary();

}  // namespace tessera
