#pragma once

#include <ATen/core/Tensor.h>

namespace tessera::nn {

// Whether kernels of ours compute with pictures of so many channels, which come last in memory, of
// this tensor's type and device; what else there is goes through LibTorch's operations.
inline bool has_picture_kernels(const at::Tensor& like, int64_t channels) {
  return like.is_cuda() && like.scalar_type() == at::kBFloat16 && channels % 8 == 0 &&
         channels <= 2048;
}
inline bool has_picture_kernels(const at::Tensor& pictures) {
  return has_picture_kernels(pictures, pictures.size(-1));
}

}  // namespace tessera::nn
