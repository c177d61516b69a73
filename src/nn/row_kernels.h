#pragma once

#include <ATen/core/Tensor.h>

namespace tessera::nn {

// Whether our own kernels support rows of this many channels (pixels of pictures, symbols of
// sentences) for this tensor's type and device. Otherwise LibTorch's operations are used.
inline bool has_row_kernels(const at::Tensor& like, int64_t channels) {
  return like.is_cuda() && like.scalar_type() == at::kBFloat16 && channels % 8 == 0 &&
         channels <= 2048;
}
inline bool has_row_kernels(const at::Tensor& rows) {
  return has_row_kernels(rows, rows.size(-1));
}

// Memory that a kernel reads; null if the tensor is undefined.
inline const void* data_or_null(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.const_data_ptr() : nullptr;
}

}  // namespace tessera::nn
