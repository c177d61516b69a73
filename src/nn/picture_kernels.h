#pragma once

#include <ATen/core/Tensor.h>

namespace tessera::nn {

// Whether kernels of ours compute with these pictures, whose channels come last in memory; what
// else there is goes through LibTorch's operations.
inline bool has_picture_kernels(const at::Tensor& pictures) {
  const int64_t channels = pictures.size(-1);
  return pictures.is_cuda() && pictures.scalar_type() == at::kBFloat16 && channels % 8 == 0 &&
         channels <= 2048;
}

}  // namespace tessera::nn
