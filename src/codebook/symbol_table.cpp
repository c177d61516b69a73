#include <tessera/codebook/symbol_table.h>

#include "base/require.h"
#include "codebook/no_cells.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>

#include <limits>

namespace tessera {

SymbolTable::SymbolTable(at::Tensor weight, bool mask) : weight_(std::move(weight)), mask_(mask) {
  require_floating(weight_, "weight");
  require(weight_.dim() == 2 && decodable() >= 2 && weight_.size(1) >= 1,
          "weight must have a row for each of two or more symbols, got {}",
          shape_text(weight_.sizes()));
}

at::Tensor SymbolTable::do_encode(const at::Tensor& labels) const {
  return at::embedding(weight_, labels.clamp(0, symbols() - 1));
}

at::Tensor SymbolTable::do_rows_of(const at::Tensor& labels) const {
  return labels.masked_fill(labels.lt(0).logical_or(labels.ge(decodable())), -1);
}

at::Tensor SymbolTable::do_scores(const at::Tensor& x) const {
  return mask_ ? at::constant_pad_nd(x, {0, 1}, -std::numeric_limits<double>::infinity()) : x;
}

at::Tensor SymbolTable::do_decode(const at::Tensor& x) const {
  return x.argmax(-1);
}

at::Tensor SymbolTable::do_cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                                         double label_smoothing) const {
  return at::cross_entropy_loss(x.reshape({-1, decodable()}), do_rows_of(labels).reshape({-1}), {},
                                at::Reduction::None, /*ignore_index=*/-1, label_smoothing)
      .reshape(labels.sizes());
}

Exit SymbolTable::do_exit_time(const Trajectory& /*trajectory*/, const at::Tensor& /*x0*/,
                               const at::Tensor& /*eps*/, const at::Tensor& /*labels*/) const {
  refuse_paths();
}

DecodedExit SymbolTable::do_decode_and_exit(const Trajectory& /*trajectory*/,
                                            const at::Tensor& /*x0*/,
                                            const at::Tensor& /*eps*/) const {
  refuse_paths();
}

}  // namespace tessera
