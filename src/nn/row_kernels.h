#pragma once

#include <ATen/core/Tensor.h>

namespace tessera::nn {

// Whether kernels of ours compute with rows of so many channels, of this tensor's type and device:
// the pixels of pictures, the symbols of sentences. What else there is goes through LibTorch's
// operations.
inline bool has_row_kernels(const at::Tensor& like, int64_t channels) {
  return like.is_cuda() && like.scalar_type() == at::kBFloat16 && channels % 8 == 0 &&
         channels <= 2048;
}
inline bool has_row_kernels(const at::Tensor& rows) {
  return has_row_kernels(rows, rows.size(-1));
}

// Memory that a kernel reads; null for what is not there.
inline const void* data_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}

}  // namespace tessera::nn
