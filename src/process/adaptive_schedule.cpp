#include <tessera/process/adaptive_schedule.h>

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace tessera {
namespace {

// The least growth of errors from bin to bin, and how far levels reach beyond the errors.
constexpr double kLeastGrowth = 1e-5;
// The start values: one error for every bin, growing up to this in the last bin.
constexpr double kLargestPrior = 0.5;

int64_t bins_of(const AdaptiveScheduleOptions& options, const Trajectory& trajectory) {
  const int64_t horizon = trajectory.options().horizon;
  require_option(options.stride >= 0 && options.start >= 0,
                 "the updates of an adaptive schedule must not be negative, got a stride of {} and "
                 "a start of {}",
                 options.stride, options.start);
  require_option(1 <= options.bin && options.bin < horizon,
                 "the bins of an adaptive schedule must have at least 1 step and fewer than the "
                 "horizon ({}), got {}",
                 horizon, options.bin);
  return (horizon + options.bin - 1) / options.bin;
}

// The share of the signal, u^2 / (u^2 + v^2) (alpha-bar for variance-preserving trajectories), and
// the time at which this share is left.
at::Tensor signal_at(const Trajectory& trajectory, const at::Tensor& time) {
  const auto [u, v] = trajectory.at(time);
  return u.square() / (u.square() + v.square());
}
at::Tensor time_of_signal(const Trajectory& trajectory, const at::Tensor& signal) {
  return trajectory.time_of_ratio(at::sqrt(signal / (1.0 - signal)));
}

// Means over bins of rows.   [T, P] -> [n, P]
at::Tensor bin_means(const at::Tensor& rows, int64_t bin) {
  std::vector<at::Tensor> means;
  for (const at::Tensor& part : rows.split(bin)) means.push_back(part.mean(0));
  return at::stack(means);
}

// The piecewise linear function through the points (x, y), at other places; each column separately.
//   x, y [n, P], x growing;  where [m, P]  ->  [m, P]
at::Tensor interpolate(const at::Tensor& x, const at::Tensor& y, const at::Tensor& where) {
  const auto columns = [](const at::Tensor& rows) { return rows.t().contiguous(); };
  const at::Tensor places = columns(x), values = columns(y), asked = columns(where);
  const at::Tensor left = (at::searchsorted(places, asked, /*out_int32=*/false, /*right=*/true) - 1)
                              .clamp(0, places.size(1) - 2);
  const auto at_left = [&](const at::Tensor& all) { return all.gather(1, left); };
  const auto at_right = [&](const at::Tensor& all) { return all.gather(1, left + 1); };
  const at::Tensor share =
      ((asked - at_left(places)) / (at_right(places) - at_left(places))).clamp(0, 1);
  return at::lerp(at_left(values), at_right(values), share).t();
}

}  // namespace

at::Tensor even_schedule(const Trajectory& trajectory, const at::Tensor& times,
                         const at::Tensor& errors, int64_t bin) {
  const int64_t horizon = times.size(0) - 1, bins = errors.size(0);
  require(bins >= 2 && errors.size(1) == times.size(1) && bins == (horizon + bin - 1) / bin,
          "a schedule {} does not go with errors {} in bins of {} steps", shape_text(times.sizes()),
          shape_text(errors.sizes()), bin);
  const c10::NoGradGuard no_grad;
  const at::Tensor growth = at::arange(bins, times.options()).unsqueeze(1) * kLeastGrowth;
  const at::Tensor growing = std::get<0>((errors - growth).cummax(0)) + growth;

  // Bin means are for the middle of the bins: adds half a bin at both ends of time.
  const auto row = [](const at::Tensor& rows, int64_t i) { return rows.narrow(0, i, 1); };
  const at::Tensor first = row(growing, 0) - (row(growing, 1) - row(growing, 0)) / 2;
  const at::Tensor last =
      row(growing, bins - 1) + (row(growing, bins - 1) - row(growing, bins - 2)) / 2;
  const at::Tensor signal = signal_at(trajectory, times.narrow(0, 1, horizon));
  const at::Tensor signals =
      at::cat({row(signal, 0), bin_means(signal, bin), row(signal, horizon - 1)});

  const at::Tensor low = first - kLeastGrowth, high = last + kLeastGrowth;
  const at::Tensor share =
      at::arange(horizon, times.options()).unsqueeze(1) / static_cast<double>(horizon - 1);
  const at::Tensor found =
      interpolate(at::cat({first, growing, last}), signals, at::lerp(low, high, share));

  at::Tensor result = times.clone();  // the ends stay
  const at::Tensor inner = time_of_signal(trajectory, found.narrow(0, 1, horizon - 2));
  result.narrow(0, 2, horizon - 2).copy_(inner);
  // Rounding must not make the times decrease.
  return std::get<0>(result.cummax(0)).clamp_max(static_cast<double>(horizon));
}

AdaptiveSchedule::AdaptiveSchedule(const AdaptiveScheduleOptions& options,
                                   const Trajectory& trajectory, at::Device device)
    : options_(options),
      trajectory_(trajectory),
      warp_(trajectory.options().horizon, options.positions, device) {
  const int64_t bins = bins_of(options, trajectory);
  bins_ = at::arange(bins, at::TensorOptions().dtype(at::kLong).device(device));
  errors_ = at::empty({bins, options.positions}, warp_.table().options());
  counts_ = at::empty_like(errors_);
  forget();
}

void AdaptiveSchedule::forget() {
  errors_.copy_(at::linspace(0, kLargestPrior, errors_.size(0), errors_.options()).unsqueeze(1));
  counts_.fill_(1);
}

void AdaptiveSchedule::observe(const at::Tensor& t, const at::Tensor& error,
                               const at::Tensor& mask) {
  require(error.dim() == 2, "an adaptive schedule is for sequences: errors must be [B, L], got {}",
          shape_text(error.sizes()));
  require_shape(t, {error.size(0)}, "t");
  if (mask.defined()) require_shape(mask, error.sizes(), "mask");
  const c10::NoGradGuard no_grad;
  // Errors that are not finite are not counted: their update is left out, too.
  at::Tensor counted = at::isfinite(error);
  if (mask.defined()) counted = counted.logical_and(mask);
  const int64_t bins = bins_.size(0), positions = warp_.positions(), length = error.size(1);
  const at::Tensor bin = ((t.to(at::kDouble) - 1) / static_cast<double>(options_.bin))
                             .floor()
                             .clamp(0, static_cast<double>(bins - 1));
  const at::Tensor chosen = bins_.unsqueeze(1).eq(bin.unsqueeze(0)).to(at::kDouble);  // [n, B]
  const auto add = [&](const at::Tensor& sums, const at::Tensor& values) {
    at::Tensor found = at::matmul(chosen, values.to(at::kDouble));  // [n, L]
    if (length > positions)
      found = at::cat({found.narrow(1, 0, positions - 1),
                       found.narrow(1, positions - 1, length - positions + 1).sum(1, true)},
                      1);
    sums.narrow(1, 0, found.size(1)).add_(found);
  };
  add(errors_, at::where(counted, error, 0.0));
  add(counts_, counted);
}

void AdaptiveSchedule::updated(int64_t updates) {
  if (options_.stride == 0 || updates == 0 || updates < options_.start ||
      (updates - options_.start) % options_.stride != 0)
    return;
  const c10::NoGradGuard no_grad;
  warp_.table().copy_(even_schedule(trajectory_, warp_.table(), errors_ / counts_, options_.bin));
  forget();
}

safetensors::Tensors AdaptiveSchedule::state() const {
  return {{"schedule.times", warp_.table()},
          {"schedule.errors", errors_},
          {"schedule.counts", counts_}};
}

void AdaptiveSchedule::restore(const safetensors::File& file, const std::string& prefix) {
  const c10::NoGradGuard no_grad;
  for (const auto& [name, tensor] : state()) {
    const at::Tensor stored = file.tensor(prefix + name);
    require_shape(stored, tensor.sizes(), prefix + name);
    require_same_dtype(stored, tensor.scalar_type(), prefix + name);
    check_finite(stored, prefix + name);
    tensor.copy_(stored);
  }
  check_interval(warp_.table(), 0, static_cast<double>(warp_.horizon()), prefix + "schedule.times");
}

}  // namespace tessera
