#include "base/require.h"
#include "tensor/machine_memory.h"

#include <tessera/symbols/matrix_kernel.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <map>
#include <mutex>
#include <utility>

namespace tessera {
namespace {

// Row t - 1: the chances that step t moves a value by 0 .. K - 1. Moves out of the range are not
// yet turned into staying.   [T, K]
at::Tensor chances_of_offsets(int64_t symbols, int64_t horizon,
                              const GaussianNoiseOptions& options) {
  const auto numbers = at::TensorOptions().dtype(at::kDouble);
  const at::Tensor variance =
      at::linspace(options.first_variance, options.last_variance, horizon, numbers).unsqueeze(1);
  const at::Tensor distance =
      at::arange(symbols, numbers) * (2.0 / static_cast<double>(symbols - 1));
  const at::Tensor weight = (distance.square() / variance).neg().exp();
  return weight / (weight.sum(1, /*keepdim=*/true) * 2 - weight.narrow(1, 0, 1));
}

}  // namespace

struct GaussianKernel::Tables {
  struct OfADevice {
    at::Tensor offsets;    // [T, K]
    at::Tensor stay;       // [T, K]  chance that a value stays
    at::Tensor distance;   // [K * K] int64
    at::Tensor same;       // [K, K]  bool
    at::Tensor from_zero;  // [T + 1, K, K]  products of the steps until t; made when asked for
    std::map<std::pair<int64_t, int64_t>, at::Tensor> products;  // for a sampler's longer steps

    // The matrices of steps t.   [N] int64 -> [N, K, K]
    at::Tensor steps(const at::Tensor& t) const {
      const int64_t symbols = same.size(0);
      const at::Tensor row = t - 1;
      const at::Tensor moved =
          offsets.index_select(0, row).index_select(1, distance).view({-1, symbols, symbols});
      return at::where(same, stay.index_select(0, row).unsqueeze(-1), moved);
    }
    at::Tensor step(int64_t t) const {
      return steps(at::full({1}, t, distance.options())).squeeze(0);
    }

    const at::Tensor& all_from_zero() {
      if (from_zero.defined()) return from_zero;
      const int64_t horizon = offsets.size(0), symbols = same.size(0);
      at::Tensor made = at::empty({horizon + 1, symbols, symbols}, offsets.options());
      made[0].copy_(at::eye(symbols, offsets.options()));
      for (int64_t t = 1; t <= horizon; ++t)
        made[t].copy_(t == 1 ? step(1) : at::matmul(made[t - 1], step(t)));
      return from_zero = made;
    }

    at::Tensor product(int64_t s, int64_t t) {
      if (s == 0) return all_from_zero()[t];
      if (s == t) return at::eye(same.size(0), offsets.options());
      if (s + 1 == t) return step(t);
      at::Tensor& found = products[{s, t}];
      if (found.defined()) return found;
      at::Tensor made = step(s + 1);
      for (int64_t k = s + 2; k <= t; ++k) made = at::matmul(made, step(k));
      return found = made;
    }
  };

  at::Tensor offsets;
  std::mutex mutex;
  std::map<std::pair<c10::DeviceType, c10::DeviceIndex>, OfADevice> devices;

  OfADevice& on(const at::Device& device) {
    OfADevice& found = devices[{device.type(), device.index()}];
    if (found.offsets.defined()) return found;
    const int64_t symbols = offsets.size(1);
    const at::Tensor place = at::arange(symbols, at::kLong);
    const at::Tensor distance = (place.unsqueeze(1) - place).abs();
    const at::Tensor moved =
        offsets.index_select(1, distance.flatten()).view({-1, symbols, symbols});
    // Row i without its diagonal; the rest is the chance to stay.
    found.stay = (1 - (moved.sum(-1) - offsets.narrow(1, 0, 1))).to(device);
    found.distance = distance.flatten().to(device);
    found.same = distance.eq(0).to(device);
    found.offsets = offsets.to(device);
    return found;
  }
};

GaussianKernel::GaussianKernel(int64_t symbols, int64_t horizon,
                               const GaussianNoiseOptions& options)
    : MatrixKernel(symbols, horizon), tables_(std::make_unique<Tables>()) {
  require_option(options.first_variance > 0 && options.first_variance <= options.last_variance,
                 "the variances of Gaussian noise must be positive and not fall, got {} and {}",
                 options.first_variance, options.last_variance);
  require_memory(
      sizeof(double) * static_cast<double>(horizon + 1) * static_cast<double>(symbols * symbols),
      fmt::format("Gaussian noise of {} symbols in {} steps", symbols, horizon),
      "lower symbols.horizon");
  tables_->offsets = chances_of_offsets(symbols, horizon, options);
}

GaussianKernel::~GaussianKernel() = default;

at::Tensor GaussianKernel::between(const at::Tensor& s, const at::Tensor& t) const {
  const c10::NoGradGuard no_grad;
  const std::lock_guard lock(tables_->mutex);
  Tables::OfADevice& tables = tables_->on(t.device());
  if (t.dim() == 0)
    return tables.product(static_cast<int64_t>(s.item<double>()),
                          static_cast<int64_t>(t.item<double>()));
  const at::Tensor from = s.to(at::kLong), until = t.to(at::kLong);
  const at::Tensor at_once = from.eq(0).expand_as(until);
  require(!t.device().is_cpu() || at_once.logical_or(from.add(1).eq(until)).all().item<bool>(),
          "Gaussian noise between times that differ by sample has steps of 1, or begins at 0");
  return at::where(at_once.view({-1, 1, 1}), tables.all_from_zero().index_select(0, until),
                   tables.steps(until.clamp_min(1)));
}

at::Tensor GaussianKernel::stationary() const {
  return at::full({symbols()}, 1.0 / static_cast<double>(symbols()),
                  at::TensorOptions().dtype(at::kDouble));
}

at::Tensor GaussianKernel::rates_from(const at::Tensor& /*x*/, const at::Tensor& /*t*/) const {
  throw Error("Gaussian noise of symbols has steps, and no rates");
}

at::Tensor GaussianKernel::rates_into(const at::Tensor& x, const at::Tensor& t) const {
  return rates_from(x, t);
}

}  // namespace tessera
