#include <tessera/codebook/pixel_values.h>

#include "base/require.h"
#include "codebook/logistic.h"
#include "codebook/no_cells.h"

#include <ATen/ATen.h>

#include <limits>

namespace tessera {
namespace {

at::Tensor codes_of(int64_t values, bool mask, at::Device device) {
  const auto numbers = at::TensorOptions().dtype(at::kDouble).device(device);
  const at::Tensor line = at::arange(values, numbers)
                              .mul(2 / static_cast<double>(values - 1))
                              .sub(1)
                              .to(at::kFloat)
                              .unsqueeze(1);
  if (!mask) return line;
  const at::Tensor known = at::cat({line, at::zeros_like(line)}, 1);
  return at::cat({known, at::tensor({0.0F, 1.0F}, line.options()).view({1, 2})});
}

// The bins of a logistic distribution, one per value.
LogisticBins bins_of(ValueHead head, int64_t values) {
  return head == ValueHead::logistic_parts ? LogisticBins::parts(values)
                                           : LogisticBins::centred(values);
}

}  // namespace

PixelValues::PixelValues(int64_t values, ValueHead head, bool mask, at::Device device)
    : values_(values), head_(head), mask_(mask) {
  require_option(values >= 2 && values <= 65536, "there must be 2 to 65536 values, got {}", values);
  codes_ = codes_of(values, mask, device);
}

at::Tensor PixelValues::do_encode(const at::Tensor& labels) const {
  return at::embedding(codes_, labels.clamp(0, symbols() - 1));
}

at::Tensor PixelValues::do_rows_of(const at::Tensor& labels) const {
  return labels.masked_fill(labels.lt(0).logical_or(labels.ge(values_)), -1);
}

at::Tensor PixelValues::do_logits(const at::Tensor& x) const {
  return head_ == ValueHead::logits ? x : logistic_log_probabilities(x, bins_of(head_, values_));
}

at::Tensor PixelValues::do_scores(const at::Tensor& x) const {
  const at::Tensor logits = do_logits(x);
  if (!mask_) return logits;
  return at::constant_pad_nd(logits, {0, 1}, -std::numeric_limits<double>::infinity());
}

at::Tensor PixelValues::do_decode(const at::Tensor& x) const {
  return head_ == ValueHead::logits ? x.argmax(-1) : logistic_mode(x, bins_of(head_, values_));
}

at::Tensor PixelValues::do_cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                                         double label_smoothing) const {
  const at::Tensor rows = do_rows_of(labels);
  if (head_ != ValueHead::logits && label_smoothing == 0) {
    const at::Tensor found =
        logistic_log_probability(x, rows.clamp_min(0), bins_of(head_, values_)).neg();
    return at::where(rows.ge(0), found, at::zeros({}, found.options()));
  }
  return at::cross_entropy_loss(do_logits(x).reshape({-1, values_}), rows.reshape({-1}), {},
                                at::Reduction::None, /*ignore_index=*/-1, label_smoothing)
      .reshape(labels.sizes());
}

Exit PixelValues::do_exit_time(const Trajectory& /*trajectory*/, const at::Tensor& /*x0*/,
                               const at::Tensor& /*eps*/, const at::Tensor& /*labels*/) const {
  refuse_paths();
}

DecodedExit PixelValues::do_decode_and_exit(const Trajectory& /*trajectory*/,
                                            const at::Tensor& /*x0*/,
                                            const at::Tensor& /*eps*/) const {
  refuse_paths();
}

}  // namespace tessera
