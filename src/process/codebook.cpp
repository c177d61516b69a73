#include <tessera/process/codebook.h>

#include "base/require.h"
#include "tensor/slices.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <cmath>
#include <limits>

namespace tessera {
namespace {

void require_width(const Codebook& codebook, const at::Tensor& x, int64_t width,
                   std::string_view argument) {
  require_floating(x, argument);
  require(x.dim() >= 1 && x.size(-1) == width, "{} must have shape [..., {}], got {}", argument,
          width, shape_text(x.sizes()));
  require_same_device(x, codebook.device(), argument);
}

void require_points(const Codebook& codebook, const at::Tensor& x, std::string_view argument) {
  require_width(codebook, x, codebook.dim(), argument);
}

void require_estimates(const Codebook& codebook, const at::Tensor& x) {
  require_width(codebook, x, codebook.output_dim(), "x");
}

void require_symbols(const Codebook& codebook, const at::Tensor& labels) {
  require_labels(labels, "labels");
  require_same_device(labels, codebook.device(), "labels");
  check_range(labels, codebook.symbols(), "labels");
}

void require_path(const Codebook& codebook, const at::Tensor& x0, const at::Tensor& eps) {
  require_points(codebook, x0, "x0");
  require_points(codebook, eps, "eps");
  require_shape(eps, x0.sizes(), "eps");
  require_same_dtype(eps, x0.scalar_type(), "eps");
  check_finite(x0, "x0");
  check_finite(eps, "eps");
}

at::IntArrayRef elements(const at::Tensor& points) {
  return points.sizes().slice(0, points.dim() - 1);
}

}  // namespace

at::Tensor Codebook::encode(const at::Tensor& labels) const {
  require_symbols(*this, labels);
  return do_encode(labels);
}

at::Tensor Codebook::scores(const at::Tensor& x) const {
  require_estimates(*this, x);
  check_finite(x, "x");
  return do_scores(x);
}

at::Tensor Codebook::logits(const at::Tensor& x) const {
  require_estimates(*this, x);
  check_finite(x, "x");
  return do_logits(x);
}

at::Tensor Codebook::rows_of(const at::Tensor& labels) const {
  require_symbols(*this, labels);
  return do_rows_of(labels);
}

at::Tensor Codebook::symbols_of(const at::Tensor& rows) const {
  require_labels(rows, "rows");
  require_same_device(rows, device(), "rows");
  check_range(rows, decodable(), "rows");
  return do_symbols_of(rows);
}

at::Tensor Codebook::decode(const at::Tensor& x) const {
  require_estimates(*this, x);
  check_finite(x, "x");
  const c10::NoGradGuard no_grad;
  return do_decode(x);
}

at::Tensor Codebook::cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                                   double label_smoothing) const {
  require_estimates(*this, x);
  require_symbols(*this, labels);
  require_shape(labels, elements(x), "labels");
  require_option(label_smoothing >= 0 && label_smoothing < 1,
                 "label_smoothing must be in [0, 1), got {}", label_smoothing);
  check_finite(x, "x");
  return do_cross_entropy(x, labels, label_smoothing);
}

at::Tensor Codebook::mean(const at::Tensor& x, double logit_scale) const {
  require(has_mean(), "a codebook of this kind has no mean of codes");
  require_estimates(*this, x);
  require_option(logit_scale > 0 && std::isfinite(logit_scale),
                 "logit_scale must be a positive number, got {}", logit_scale);
  check_finite(x, "x");
  const c10::NoGradGuard no_grad;
  return do_mean(x.detach(), logit_scale);
}

at::Tensor Codebook::do_mean(const at::Tensor& /*x*/, double /*logit_scale*/) const {
  throw Error("a codebook of this kind has no mean of codes");
}

at::Tensor Codebook::spacing() const {
  const c10::NoGradGuard no_grad;
  const int64_t n = decodable();
  require(n >= 2, "the spacing of codes needs at least 2 symbols that can be decoded");
  const at::Tensor codes = do_encode(
      do_symbols_of(at::arange(n, at::TensorOptions().dtype(at::kLong).device(device()))));
  const at::Tensor lengths = codes.square().sum(-1);  // [n], squared
  // |a - b|^2 = |a|^2 + |b|^2 - 2 a.b, and |a|^2 does not decide which b is nearest.
  const at::Tensor nearest = in_slices(n, n, device(), [&](int64_t begin, int64_t count) {
    const at::Tensor rest =
        at::addmm(lengths, codes.narrow(0, begin, count), codes.t(), /*beta=*/1, /*alpha=*/-2);
    rest.diagonal(begin).fill_(std::numeric_limits<double>::infinity());
    return rest.amin(1);
  });
  return (lengths + nearest).clamp_min(0).mean() / static_cast<double>(dim());
}

Exit Codebook::exit_time(const Trajectory& trajectory, const at::Tensor& x0, const at::Tensor& eps,
                         const at::Tensor& labels) const {
  require_path(*this, x0, eps);
  require_symbols(*this, labels);
  require_shape(labels, elements(x0), "labels");
  const c10::NoGradGuard no_grad;
  return do_exit_time(trajectory, x0.detach(), eps.detach(), labels);
}

DecodedExit Codebook::decode_and_exit(const Trajectory& trajectory, const at::Tensor& x0,
                                      const at::Tensor& eps) const {
  require_path(*this, x0, eps);
  const c10::NoGradGuard no_grad;
  return do_decode_and_exit(trajectory, x0.detach(), eps.detach());
}

}  // namespace tessera
