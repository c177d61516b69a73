#include "base/require.h"
#include "symbols/categorical.h"
#include "symbols/device_copies.h"

#include <tessera/symbols/matrix_kernel.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>

namespace tessera {
namespace {

constexpr double kNoise = 1e-12;  // rounding error of chances

// The rate from i to a j closer to the middle, 0 for other j: their rates follow from balance.
double towards_the_middle(int64_t i, int64_t j, int64_t symbols, double reach) {
  const bool inwards = 2 * i < symbols ? i < j && j < symbols - i : symbols - 1 - i < j && j < i;
  if (!inwards || 2 * i == symbols) return 0;
  const double beyond = static_cast<double>(std::abs(i - j) - 1) / reach;
  return std::exp(-beyond * beyond);
}

// [K, K], rows that sum to 0.
at::Tensor base_rates(const at::Tensor& stationary, double reach) {
  const int64_t symbols = stationary.size(0);
  const double* const share = stationary.const_data_ptr<double>();
  at::Tensor rates = at::zeros({symbols, symbols}, stationary.options());
  auto* const entry = rates.mutable_data_ptr<double>();
  for (int64_t i = 0; i < symbols; ++i)
    for (int64_t j = 0; j < symbols; ++j) {
      const double rate = towards_the_middle(i, j, symbols, reach);
      if (rate == 0) continue;
      entry[i * symbols + j] = rate;
      entry[j * symbols + i] = rate * share[i] / share[j];
    }
  return rates - at::diag_embed(rates.sum(1));
}

at::Tensor wide_gaussian(int64_t symbols, double width) {
  const at::Tensor place =
      (at::arange(symbols, at::kDouble) + (1 - static_cast<double>(symbols / 2))) / width;
  const at::Tensor weight = (place.square() * -0.5).exp();
  return weight / weight.sum();
}

}  // namespace

// exp(R b) = left diag(exp(values b)) right
struct TargetRateKernel::Tables {
  DeviceCopies base, left, right, values;
};

TargetRateKernel::TargetRateKernel(int64_t symbols, int64_t horizon,
                                   const TargetRateOptions& options)
    : MatrixKernel(symbols, horizon), options_(options) {
  require_option(options.reach > 0 && options.target_width > 0 && options.scale > 0,
                 "the reach, the target width and the scale of rates must be positive, got {}, {} "
                 "and {}",
                 options.reach, options.target_width, options.scale);
  require_option(options.growth > 1, "the growth of rates must be above 1, got {}", options.growth);
  const c10::NoGradGuard no_grad;
  stationary_ = wide_gaussian(symbols, options.target_width);
  require_option(stationary_.min().item<double>() > 0,
                 "a target width of {} leaves some of {} symbols no probability: raise it",
                 options.target_width, symbols);
  const at::Tensor rates = base_rates(stationary_, options.reach);
  // Balance makes the matrix symmetric after scaling by the roots of the shares.
  const at::Tensor root = stationary_.sqrt();
  const at::Tensor symmetric = root.unsqueeze(1) * rates / root;
  const auto [values, vectors] = at::linalg_eigh((symmetric + symmetric.t()) / 2);
  tables_.reset(new Tables{DeviceCopies(rates), DeviceCopies(vectors / root.unsqueeze(1)),
                           DeviceCopies((vectors * root.unsqueeze(1)).t().contiguous()),
                           DeviceCopies(values.clamp_max(0))});
}

TargetRateKernel::~TargetRateKernel() = default;

at::Tensor TargetRateKernel::base() const {
  return tables_->base.on(at::kCPU);
}

at::Tensor TargetRateKernel::speed(const at::Tensor& t) const {
  const double growth = std::log(options_.growth);
  return (t.to(at::kDouble) * (growth / horizon())).exp() * (options_.scale * growth);
}

at::Tensor TargetRateKernel::elapsed(const at::Tensor& t) const {
  return at::expm1(t.to(at::kDouble) * (std::log(options_.growth) / horizon())) * options_.scale;
}

at::Tensor TargetRateKernel::between(const at::Tensor& s, const at::Tensor& t) const {
  const c10::NoGradGuard no_grad;
  const at::Device device = t.device();
  const at::Tensor passed = (elapsed(t) - elapsed(s)).unsqueeze(-1);
  const at::Tensor left_over = (tables_->values.on(device) * passed).exp().unsqueeze(-2);
  const at::Tensor all =
      at::matmul(tables_->left.on(device) * left_over, tables_->right.on(device));
  const at::Tensor chances = at::where(all.gt(kNoise), all, 0.0);
  return chances / chances.sum(-1, /*keepdim=*/true);
}

at::Tensor TargetRateKernel::rates_from(const at::Tensor& x, const at::Tensor& t) const {
  const at::Tensor all = tables_->base.on(x.device()).clamp_min(0);  // without the diagonal
  return at::embedding(all, x) * against_elements(speed(t), x.dim() + 1);
}

at::Tensor TargetRateKernel::rates_into(const at::Tensor& x, const at::Tensor& t) const {
  const at::Tensor all = tables_->base.on(x.device()).clamp_min(0).t().contiguous();
  return at::embedding(all, x) * against_elements(speed(t), x.dim() + 1);
}

}  // namespace tessera
