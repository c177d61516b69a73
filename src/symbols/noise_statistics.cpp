#include "symbols/noise_statistics.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace tessera {
namespace {

constexpr int64_t kRows = 256;  // symbols at a time: bounds the memory for their distributions

bool has_survival(SymbolNoise noise) {
  return noise == SymbolNoise::absorbing || noise == SymbolNoise::uniform;
}

// -sum p ln p over the last axis.
at::Tensor entropy(const at::Tensor& p) {
  return at::special_entr(p).sum(-1);
}

struct Left {
  double changed, information;
};

//   symbols  [n] int64;  share  [n] of each, its sum is 1
Left left_at(const NoiseKernel& kernel, const at::Tensor& symbols, const at::Tensor& share,
             const at::Tensor& t) {
  at::Tensor noisy = at::zeros({kernel.states()}, share.options());  // how often each state occurs
  double unchanged = 0, spread = 0;                                  // spread: entropy given x0
  for (int64_t begin = 0; begin < symbols.size(0); begin += kRows) {
    const int64_t count = std::min(kRows, symbols.size(0) - begin);
    const at::Tensor x0 = symbols.narrow(0, begin, count), p = share.narrow(0, begin, count);
    const at::Tensor xt = kernel.marginal(x0, t.expand({count}));  // [count, states]
    noisy += at::matmul(p, xt);
    unchanged += p.dot(xt.gather(1, x0.unsqueeze(1)).squeeze(1)).item<double>();
    spread += p.dot(entropy(xt)).item<double>();
  }
  const double known = entropy(share).item<double>();
  const double told = std::max(entropy(noisy).item<double>() - spread, 0.0);
  return {1 - unchanged, known > 0 ? told / known : 0};
}

}  // namespace

NoiseStatistics noise_statistics(const SymbolProcess& process, const at::Tensor& counts,
                                 int64_t steps) {
  const NoiseKernel& kernel = process.kernel();
  require(steps >= 1, "statistics of noise need at least one time");
  require_shape(counts, {kernel.symbols()}, "counts");
  const c10::NoGradGuard no_grad;
  const at::Tensor symbols = counts.nonzero().flatten();
  require(symbols.size(0) >= 1, "statistics of noise need at least one symbol that occurs");
  const at::Tensor share = (counts / counts.sum()).take(symbols);
  const std::optional<Survival> survival = has_survival(process.options().noise)
                                               ? std::optional<Survival>(process.options().survival)
                                               : std::nullopt;
  NoiseStatistics result;
  for (int64_t step = 1; step <= steps; ++step) {
    double t = process.horizon() * static_cast<double>(step) / static_cast<double>(steps);
    if (!process.options().continuous) t = std::ceil(t);
    const Left left = left_at(kernel, symbols, share, at::full({1}, t, share.options()));
    result.times.push_back(t / process.horizon());
    if (survival) result.survival.push_back(survival->alpha(t));
    result.changed.push_back(left.changed);
    result.information.push_back(left.information);
  }
  return result;
}

}  // namespace tessera
