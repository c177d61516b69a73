#include "image_model/quantiser.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace tessera::image_model {

Quantiser::Quantiser(const QuantiserOptions& options, at::Device device) : options_(options) {
  const auto floats = at::TensorOptions().dtype(at::kFloat).device(device);
  codes_ = at::zeros({options.codes, options.width}, floats);
  sums_ = at::zeros_like(codes_);
  sizes_ = at::zeros({options.codes}, floats);
  used_ = at::zeros_like(sizes_);
  batches_ = at::full({}, options.restart_every, floats);
}

at::Tensor Quantiser::nearest(const at::Tensor& points) const {
  const c10::NoGradGuard no_grad;
  const at::Tensor rows = points.to(at::kFloat).reshape({-1, options_.width});
  // |x - c|^2 = |x|^2 - 2 (x . c - |c|^2 / 2)
  const at::Tensor half_squares = codes_.square().sum(1).mul(0.5);
  std::vector<int64_t> shape = points.sizes().vec();
  shape.pop_back();
  return at::addmm(half_squares, rows, codes_.t(), /*beta=*/-1).argmax(-1).view(shape);
}

at::Tensor Quantiser::codes_of(const at::Tensor& labels) const {
  return at::embedding(codes_, labels);
}

at::Tensor Quantiser::mean() const {
  return sums_.sum(0) / sizes_.sum().clamp_min(1e-12);
}

void Quantiser::restart(const at::Tensor& points, const at::Tensor& places) {
  const c10::NoGradGuard no_grad;
  const int64_t count = points.size(0);
  const at::Tensor due = batches_.ge(static_cast<double>(options_.restart_every));
  const at::Tensor fair = used_.sum() / static_cast<double>(options_.codes);
  const at::Tensor chosen = points.index_select(
      0, places.mul(static_cast<double>(count)).to(at::kLong).clamp_max(count - 1));
  const at::Tensor restarts = due.logical_and(used_.le(fair * options_.restart_share))
                                  .logical_and(chosen.isfinite().all(1));
  const at::Tensor rows = restarts.unsqueeze(1);
  codes_.copy_(at::where(rows, chosen, codes_));
  sums_.copy_(at::where(rows, chosen, sums_));
  sizes_.masked_fill_(restarts, 1);
  used_.masked_fill_(due, 0);
  batches_.masked_fill_(due, 0);
}

void Quantiser::learn(const at::Tensor& points, const at::Tensor& labels) {
  const c10::NoGradGuard no_grad;
  const at::Tensor finite = points.isfinite().all(1, /*keepdim=*/true);  // [n, 1]
  const at::Tensor all = at::arange(options_.codes, labels.options());
  // A product, because it adds in a fixed order. Adding by index does not on a GPU.
  const at::Tensor taken =
      labels.unsqueeze(1).eq(all).logical_and(finite).to(at::kFloat);  // [n, K]
  const at::Tensor sizes = taken.sum(0);
  sizes_.lerp_(sizes, 1 - options_.decay);
  sums_.lerp_(at::mm(taken.t(), points.masked_fill(finite.logical_not(), 0)), 1 - options_.decay);
  const at::Tensor all_sizes = sizes_.sum();
  const double smoothing = options_.smoothing;
  const at::Tensor smoothed = (sizes_ + smoothing) * all_sizes /
                              (all_sizes + smoothing * static_cast<double>(options_.codes));
  codes_.copy_(sums_ / smoothed.unsqueeze(1));
  used_.add_(sizes);
  batches_.add_(1);
}

safetensors::Tensors Quantiser::state() const {
  return {{"codes", codes_},
          {"sums", sums_},
          {"sizes", sizes_},
          {"used", used_},
          {"batches", batches_}};
}

void Quantiser::restore(const safetensors::File& file, const std::string& prefix) {
  const c10::NoGradGuard no_grad;
  for (auto& [name, tensor] : state()) {
    const at::Tensor stored = file.tensor(prefix + name);
    require_shape(stored, tensor.sizes(), prefix + name);
    tensor.copy_(stored);
  }
}

at::Tensor straight_through(const at::Tensor& points, const at::Tensor& codes) {
  return points + (codes - points).detach();
}

}  // namespace tessera::image_model
