#include <tessera/codebook/bits.h>

#include "base/require.h"
#include "codebook/bit_exit.h"
#include "process/exit.h"

#include <ATen/ATen.h>

#include <cmath>

namespace tessera {
namespace {

// Bit i of the pattern is coordinate i of the code.
int64_t pattern_of(int64_t symbol, const BitsOptions& options) {
  int64_t value = options.permutation.empty() ? symbol : options.permutation[symbol];
  if (options.gray) value ^= value >> 1;
  if (options.order == BitOrder::least_first) return value;
  int64_t reversed = 0;
  for (int64_t bit = 0; bit < options.width; ++bit)
    reversed |= (value >> bit & 1) << (options.width - 1 - bit);
  return reversed;
}

void require_permutation(const std::vector<int64_t>& permutation, int64_t symbols) {
  require_option(static_cast<int64_t>(permutation.size()) == symbols,
                 "bits permutation must have {} values, got {}", symbols, permutation.size());
  std::vector<bool> seen(symbols, false);
  for (const int64_t value : permutation) {
    require_option(value >= 0 && value < symbols && !seen[value],
                   "bits permutation must hold every value in [0, {}) once; {} is wrong", symbols,
                   value);
    seen[value] = true;
  }
}

}  // namespace

Bits::Bits(const BitsOptions& options, at::Device device) : options_(options) {
  require_option(options.width >= 1 && options.width <= 16, "bits width must be in [1, 16], got {}",
                 options.width);
  require_option(options.size > 0 && std::isfinite(options.size),
                 "bits size must be a positive number, got {}", options.size);
  if (!options.permutation.empty()) require_permutation(options.permutation, symbols());

  std::vector<int64_t> pattern(symbols()), symbol(symbols());
  std::vector<float> codes;
  codes.reserve(symbols() * options.width);
  for (int64_t s = 0; s < symbols(); ++s) {
    pattern[s] = pattern_of(s, options);
    symbol[pattern[s]] = s;
    for (int64_t bit = 0; bit < options.width; ++bit)
      codes.push_back(static_cast<float>(pattern[s] >> bit & 1 ? options.size : -options.size));
  }
  pattern_of_symbol_ = at::tensor(pattern, at::kLong).to(device);
  symbol_of_pattern_ = at::tensor(symbol, at::kLong).to(device);
  codes_ = at::tensor(codes, at::kFloat).reshape({symbols(), dim()}).to(device);
}

at::Tensor Bits::do_encode(const at::Tensor& labels) const {
  return at::embedding(codes_, labels.clamp(0, symbols() - 1));
}

at::Tensor Bits::do_scores(const at::Tensor& x) const {
  return at::matmul(x, codes_.to(x.scalar_type()).t());
}

at::Tensor Bits::do_decode(const at::Tensor& x) const {
  return symbol_of_pattern_.take(bit_patterns(x));
}

at::Tensor Bits::do_cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                                  double label_smoothing) const {
  // The softmax over all patterns of sums over bits is a product of one sigmoid per bit: log p(bit)
  // with the margin 2 s x. Smoothing over all patterns gives each bit's other value half of the
  // smoothed mass.
  const at::Tensor margin = 2.0 * x * do_encode(labels).to(x.scalar_type());
  const at::Tensor right = at::log_sigmoid(margin), wrong = at::log_sigmoid(-margin);
  const double half = label_smoothing / 2;
  return -((1.0 - half) * right + half * wrong).sum(-1);
}

Exit Bits::do_exit_time(const Trajectory& trajectory, const at::Tensor& x0, const at::Tensor& eps,
                        const at::Tensor& labels) const {
  const at::Tensor valid = labels.ge(0).logical_and_(labels.lt(symbols()));
  const at::Tensor patterns =
      at::where(valid, pattern_of_symbol_.take(labels.clamp(0, symbols() - 1)), -1);
  const auto found = bit_exit_ratio(x0, eps, patterns);
  return exit_of_ratio(trajectory, found.ratio, found.outside);
}

DecodedExit Bits::do_decode_and_exit(const Trajectory& trajectory, const at::Tensor& x0,
                                     const at::Tensor& eps) const {
  const auto found = bit_exit_ratio(x0, eps, {});
  return {symbol_of_pattern_.take(found.patterns),
          exit_of_ratio(trajectory, found.ratio, found.outside)};
}

}  // namespace tessera
