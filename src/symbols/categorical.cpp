#include "symbols/categorical.h"

#include "base/require.h"
#include "tensor/slices.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>

#include <vector>

namespace tessera {

at::Tensor draw_categorical(const at::Tensor& logits, const at::Tensor& u) {
  require_shape(u, logits.sizes().slice(0, logits.dim() - 1), "u");
  if (u.numel() == 0) return at::zeros(u.sizes(), u.options().dtype(at::kLong));
  const int64_t symbols = logits.size(-1);
  const at::Tensor rows = logits.reshape({-1, symbols}), numbers = u.reshape({-1, 1});
  const auto draw = [&](int64_t begin, int64_t count) {
    const at::Tensor below =
        rows.narrow(0, begin, count).to(at::kDouble).softmax(-1).cumsum(-1);  // [count, K]
    const at::Tensor all = below.narrow(-1, symbols - 1, 1).contiguous();
    const at::Tensor found = at::searchsorted(below, numbers.narrow(0, begin, count) * all,
                                              /*out_int32=*/false, /*right=*/true);
    // Rounding may lead beyond the last symbol that has a probability.
    const at::Tensor last = at::searchsorted(below, all);
    return at::minimum(found, last).squeeze(-1);
  };
  return in_slices(rows.size(0), symbols, logits.device(), draw).reshape(u.sizes());
}

at::Tensor entry(const at::Tensor& values, const at::Tensor& index) {
  return values.gather(-1, index.unsqueeze(-1)).squeeze(-1);
}

at::Tensor surprise_of(const at::Tensor& log_p0, const at::Tensor& x0) {
  const at::Tensor found = entry(log_p0, x0.clamp_min(0));
  return at::where(x0.ge(0), found.neg(), at::zeros({}, found.options()));
}

at::Tensor against_elements(const at::Tensor& time, int64_t axes) {
  if (time.dim() == 0) return time;
  std::vector<int64_t> shape(static_cast<size_t>(axes), 1);
  shape.at(0) = time.size(0);
  return time.view(shape);
}

}  // namespace tessera
