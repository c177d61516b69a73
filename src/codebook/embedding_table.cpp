#include <tessera/codebook/embedding_table.h>

#include "base/require.h"
#include "codebook/table_exit.h"
#include "codebook/table_mean.h"
#include "process/exit.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace tessera {
namespace {

constexpr double kLayerNormEps = 1e-12, kSmallestNorm = 1e-12;

at::Tensor normalised(const at::Tensor& rows, Normalise how) {
  switch (how) {
    case Normalise::none:
      return rows;
    case Normalise::scaled:
      return rows * std::sqrt(static_cast<double>(rows.size(1)));
    case Normalise::l2:
      return rows * (std::sqrt(static_cast<double>(rows.size(1))) /
                     at::norm(rows, 2, {-1}, true).clamp_min(kSmallestNorm));
    case Normalise::layernorm:
      return at::layer_norm(rows, {rows.size(1)}, {}, {}, kLayerNormEps);
  }
  return rows;
}

// x . E_j (+ c_j), in the dtype of x, with gradients.   [..., d] -> [..., n]
at::Tensor linear_scores(const at::Tensor& x, const at::Tensor& codes, const at::Tensor& bias) {
  const at::Tensor scores = at::matmul(x, codes.to(x.scalar_type()).t());
  return bias.defined() ? scores + bias.to(x.scalar_type()) : scores;
}

}  // namespace

EmbeddingTable::EmbeddingTable(at::Tensor weight, const EmbeddingTableOptions& options,
                               at::Tensor bias)
    : weight_(std::move(weight)), bias_(std::move(bias)), options_(options) {
  require_floating(weight_, "weight");
  require(weight_.dim() == 2 && weight_.size(0) >= 1 && weight_.size(1) >= 1,
          "weight must have shape [K, d] with K, d >= 1, got {}", shape_text(weight_.sizes()));
  check_finite(weight_, "weight");
  if (bias_.defined()) {
    require_same_dtype(bias_, weight_.scalar_type(), "bias");
    require_shape(bias_, {symbols()}, "bias");
    require_same_device(bias_, weight_.device(), "bias");
    check_finite(bias_, "bias");
  }

  std::vector<bool> decodable(symbols(), true);
  for (const int64_t symbol : options.undecodable) {
    require(symbol >= 0 && symbol < symbols(), "undecodable symbol {} is not in [0, {})", symbol,
            symbols());
    decodable[symbol] = false;
  }
  std::vector<int64_t> symbol_of_row, row_of_symbol(symbols(), -1);
  for (int64_t symbol = 0; symbol < symbols(); ++symbol) {
    if (!decodable[symbol]) continue;
    row_of_symbol[symbol] = static_cast<int64_t>(symbol_of_row.size());
    symbol_of_row.push_back(symbol);
  }
  require(!symbol_of_row.empty(), "all {} symbols are undecodable", symbols());
  if (static_cast<int64_t>(symbol_of_row.size()) < symbols()) {
    decodable_.symbol = at::tensor(symbol_of_row, at::kLong).to(device());
    decodable_.row = at::tensor(row_of_symbol, at::kLong).to(device());
  }
  refresh();
}

// A code of length 0 has no cell; normalised codes all have length sqrt(d).
void EmbeddingTable::check_lengths() const {
  if (value_checks() == ValueChecks::off) return;
  const c10::NoGradGuard no_grad;
  const bool any_length =
      options_.normalise == Normalise::none || options_.normalise == Normalise::scaled;
  const double length = std::sqrt(static_cast<double>(dim()));
  const double low = any_length ? std::numeric_limits<float>::min() : 0.99 * length;
  const double high = any_length ? std::numeric_limits<float>::max() : 1.01 * length;
  const at::Tensor norms = at::norm(decodable_.codes, 2, {-1});
  const std::string how = fmt::format("normalisation '{}'", name_of(options_.normalise));
  if (!device().is_cpu())
    return check_interval(norms, low, high, fmt::format("the length of codes ({})", how));
  const at::Tensor good = norms.ge(low).logical_and_(norms.le(high));
  if (good.all().item<bool>()) return;
  const at::Tensor row = good.to(at::kInt).argmin();
  throw Error(fmt::format("the code of symbol {} has length {} after {}",
                          do_symbols_of(row).item<int64_t>(), norms.take(row).item<double>(), how));
}

void EmbeddingTable::refresh() {
  codes_ = decodable_.codes = normalised(weight_, options_.normalise);
  decodable_.bias = bias_;
  if (decodable_.symbol.defined()) {
    decodable_.codes = codes_.index_select(0, decodable_.symbol);
    if (bias_.defined()) decodable_.bias = bias_.index_select(0, decodable_.symbol);
  }
  check_lengths();
}

at::Tensor EmbeddingTable::do_symbols_of(const at::Tensor& rows) const {
  return decodable_.symbol.defined() ? decodable_.symbol.take(rows) : rows;
}

at::Tensor EmbeddingTable::do_rows_of(const at::Tensor& labels) const {
  const at::Tensor valid = labels.ge(0).logical_and_(labels.lt(symbols()));
  const at::Tensor inside = labels.clamp(0, symbols() - 1);
  const at::Tensor rows = decodable_.row.defined() ? decodable_.row.take(inside) : inside;
  return at::where(valid, rows, -1);
}

at::Tensor EmbeddingTable::do_encode(const at::Tensor& labels) const {
  return at::embedding(codes_, labels.clamp(0, symbols() - 1));
}

at::Tensor EmbeddingTable::do_logits(const at::Tensor& x) const {
  return linear_scores(x, decodable_.codes, decodable_.bias);
}

at::Tensor EmbeddingTable::do_scores(const at::Tensor& x) const {
  const at::Tensor scores = do_logits(x);
  if (!decodable_.symbol.defined()) return scores;
  std::vector<int64_t> shape = x.sizes().vec();
  shape.back() = symbols();
  return at::full(shape, -std::numeric_limits<double>::infinity(), scores.options())
      .index_copy(-1, decodable_.symbol, scores);
}

at::Tensor EmbeddingTable::do_decode(const at::Tensor& x) const {
  const at::Tensor rows =
      table_argmax(decodable_.codes, decodable_.bias, x.detach().reshape({-1, dim()}));
  return do_symbols_of(rows).reshape(x.sizes().slice(0, x.dim() - 1));
}

at::Tensor EmbeddingTable::do_cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                                            double label_smoothing) const {
  const at::Tensor scores =
      linear_scores(x.reshape({-1, dim()}), decodable_.codes, decodable_.bias);
  // Padding has no row and no loss.
  const at::Tensor rows = do_rows_of(labels).reshape({-1});
  return at::cross_entropy_loss(scores, rows, {}, at::Reduction::None, /*ignore_index=*/-1,
                                label_smoothing)
      .reshape(labels.sizes());
}

at::Tensor EmbeddingTable::do_mean(const at::Tensor& x, double logit_scale) const {
  return table_mean(decodable_.codes.detach(),
                    decodable_.bias.defined() ? decodable_.bias.detach() : at::Tensor{},
                    x.reshape({-1, dim()}), logit_scale)
      .reshape(x.sizes());
}

Exit EmbeddingTable::do_exit_time(const Trajectory& trajectory, const at::Tensor& x0,
                                  const at::Tensor& eps, const at::Tensor& labels) const {
  return find_exit(trajectory, x0, eps, do_rows_of(labels).reshape({-1})).exit;
}

DecodedExit EmbeddingTable::do_decode_and_exit(const Trajectory& trajectory, const at::Tensor& x0,
                                               const at::Tensor& eps) const {
  return find_exit(trajectory, x0, eps, {});
}

DecodedExit EmbeddingTable::find_exit(const Trajectory& trajectory, const at::Tensor& x0,
                                      const at::Tensor& eps, const at::Tensor& rows) const {
  const at::IntArrayRef shape = x0.sizes().slice(0, x0.dim() - 1);
  at::Tensor start = x0.reshape({-1, dim()}), end = eps.reshape({-1, dim()});
  at::Tensor codes = decodable_.codes.detach();
  const at::Tensor bias = decodable_.bias.defined() ? decodable_.bias.detach() : at::Tensor{};

  const bool by_angle = bias.defined() && trajectory.variance_preserving();
  TableExit found;
  if (by_angle) {
    found = table_exit_angle(codes, bias, start, end, rows);
  } else {
    if (bias.defined()) {
      // If u + v = 1 or u = 1, affine scores are linear scores with one more coordinate.
      codes = with_coordinate(codes, bias);
      start = with_coordinate(start, 1.0);
      end = with_coordinate(end, trajectory.kind() == TrajectoryKind::ot ? 1.0 : 0.0);
    }
    found = table_exit_ratio(codes, start, end, rows);
  }
  const at::Tensor value = found.value.reshape(shape), outside = found.outside.reshape(shape);
  return {do_symbols_of(found.rows.clamp_min(0)).reshape(shape),
          by_angle ? exit_of_angle(trajectory, value, outside)
                   : exit_of_ratio(trajectory, value, outside)};
}

}  // namespace tessera
