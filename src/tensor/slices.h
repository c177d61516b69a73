#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace tessera {

// Computes a result for every element that needs a score of every symbol on the way. Elements x
// symbols are too many to keep, so it computes one slice of the elements after the other.
//   elements  at least 1
//   make      gives the results of elements begin .. begin + count - 1, [count, ...]
//   returns   [elements, ...]
at::Tensor in_slices(int64_t elements, int64_t symbols, at::Device device,
                     const std::function<at::Tensor(int64_t begin, int64_t count)>& make);

}  // namespace tessera
