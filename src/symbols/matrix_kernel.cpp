#include <tessera/symbols/matrix_kernel.h>

#include "base/require.h"

#include <ATen/ATen.h>
#include <ATen/Context.h>

namespace tessera {
namespace {

// Rows of tables.   tables [B, K, K] or [K, K], x [B, ...] -> [B, ..., K]
at::Tensor rows_of(const at::Tensor& tables, const at::Tensor& x) {
  const int64_t symbols = tables.size(-1);
  at::Tensor row = x.reshape({-1});
  if (tables.dim() == 3) {
    const at::Tensor first = at::arange(tables.size(0), x.options()) * symbols;
    row = (x.reshape({x.size(0), -1}) + first.unsqueeze(1)).reshape({-1});
  }
  std::vector<int64_t> shape = x.sizes().vec();
  shape.push_back(symbols);
  return tables.reshape({-1, symbols}).index_select(0, row).view(shape);
}

}  // namespace

MatrixKernel::MatrixKernel(int64_t symbols, int64_t horizon)
    : symbols_(symbols), horizon_(static_cast<double>(horizon)) {
  require_option(symbols >= 2 && symbols <= kMostSymbols,
                 "this noise of symbols keeps tables of K x K and is for 2 to {} symbols, not {}: "
                 "take symbols.noise = \"uniform\" or \"absorbing\"",
                 kMostSymbols, symbols);
  require_option(horizon >= 1, "the horizon must be at least 1, got {}", horizon);
}

at::Tensor MatrixKernel::draw(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t,
                              const at::Tensor& u) const {
  // Counts the entries of the distribution function that are at or below u, by bisection, so that
  // nothing has the size of elements x K.
  const at::Tensor below = between(s, t).cumsum(-1);
  const at::Tensor table = below.reshape({-1});
  at::Tensor row = x;
  if (below.dim() == 3) {
    std::vector<int64_t> shape(static_cast<size_t>(x.dim()), 1);
    shape[0] = x.size(0);
    row = x + (at::arange(x.size(0), x.options()) * symbols_).view(shape);
  }
  const at::Tensor begin = row * symbols_;
  // Rounding may leave the last entry below one.
  const at::Tensor aim = u * table.take(begin + (symbols_ - 1));
  at::Tensor low = at::zeros_like(x), high = at::full_like(x, symbols_ - 1);
  for (int64_t reach = 1; reach < symbols_; reach *= 2) {
    const at::Tensor middle = at::floor_divide(low + high, 2);
    const at::Tensor above = table.take(begin + middle).le(aim);
    low = at::where(above, at::minimum(middle + 1, high), low);
    high = at::where(above, high, middle);
  }
  return low;
}

at::Tensor MatrixKernel::start(const at::Tensor& u) const {
  const at::Tensor below = stationary().to(u.device()).cumsum(0);
  return at::searchsorted(below, u.contiguous(), /*out_int32=*/false, /*right=*/true)
      .clamp_max(symbols_ - 1);
}

at::Tensor MatrixKernel::log_from(const at::Tensor& x, const at::Tensor& s,
                                  const at::Tensor& t) const {
  return rows_of(between(s, t).transpose(-1, -2).log(), x);
}

at::Tensor MatrixKernel::forward(const at::Tensor& p, const at::Tensor& t) const {
  const at::NoTF32Guard full_precision;  // logarithms of the result follow
  const at::Tensor table = between(at::zeros_like(t), t).to(p.scalar_type());
  if (table.dim() == 2) return at::matmul(p, table);
  return at::bmm(p.reshape({p.size(0), -1, symbols_}), table).view(p.sizes());
}

at::Tensor MatrixKernel::marginal(const at::Tensor& x0, const at::Tensor& t) const {
  return rows_of(between(at::zeros_like(t), t), x0);
}

}  // namespace tessera
