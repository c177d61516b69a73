#include "nn/key_cache.h"

#include <ATen/ATen.h>

namespace tessera::nn {

KeyCache::KeyCache(const Size& size, const at::TensorOptions& options)
    : all_(at::empty({size.room, size.rows, size.layers, 2, size.heads, size.width / size.heads},
                     options)) {}

Memory KeyCache::append(int64_t layer, const Memory& next) {
  const at::Tensor own = all_.select(2, layer).narrow(0, 0, length_ + 1);  // [S, B, 2, heads, ...]
  const auto kept = [&](int64_t part, const at::Tensor& last) {
    const at::Tensor all = own.select(2, part);
    all.select(0, length_).copy_(last.squeeze(2));
    return all.permute({1, 2, 0, 3});
  };
  return {kept(0, next.keys), kept(1, next.values)};
}

void KeyCache::select(const at::Tensor& rows) {
  auto sizes = all_.sizes().vec();
  sizes[1] = rows.size(0);
  at::Tensor result = at::empty(sizes, all_.options());
  // All positions in one operation: row b of position p is piece p * B + b.
  const auto pieces = [&](const at::Tensor& all) {
    return all.narrow(0, 0, length_).flatten(0, 1).flatten(1);
  };
  const at::Tensor places =
      (at::arange(length_, rows.options()) * all_.size(1)).unsqueeze(1).add(rows).flatten();
  at::Tensor to = pieces(result);
  at::index_select_out(to, pieces(all_), 0, places);
  all_ = result;
}

}  // namespace tessera::nn
