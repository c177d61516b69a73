#include "tensor/slices.h"

#include <ATen/ops/cat.h>

#include <algorithm>
#include <vector>

namespace tessera {

at::Tensor in_slices(int64_t elements, int64_t symbols, at::Device device,
                     const std::function<at::Tensor(int64_t begin, int64_t count)>& make) {
  // 16 MiB of float32, which fits into caches; a GPU needs more to be busy.
  const int64_t scores = device.is_cpu() ? int64_t{1} << 22 : int64_t{1} << 26;
  const int64_t slice = std::max<int64_t>(1, scores / symbols);
  std::vector<at::Tensor> parts;
  for (int64_t begin = 0; begin < elements; begin += slice)
    parts.push_back(make(begin, std::min(slice, elements - begin)));
  return at::cat(parts);
}

}  // namespace tessera
