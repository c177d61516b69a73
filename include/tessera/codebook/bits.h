#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/process/codebook.h>

#include <vector>

namespace tessera {

enum class BitOrder { least_first, most_first };

template <>
struct EnumNames<BitOrder> {
  static constexpr std::string_view what = "bit order";
  static constexpr std::array<std::pair<BitOrder, std::string_view>, 2> values{
      {{BitOrder::least_first, "least-first"}, {BitOrder::most_first, "most-first"}}};
};

struct BitsOptions {
  int64_t width = 8;  // n bits per symbol, 1 to 16; all 2^n patterns are symbols
  double size = 1.0;  // s: a code is a vector of +s (bit set) and -s
  BitOrder order = BitOrder::least_first;
  bool gray = false;  // neighbouring values differ in one bit
  // Value -> value, applied before the bits are taken; empty: none.
  std::vector<int64_t> permutation = {};
};

// Symbols as vectors of +-s: a cell is an orthant, so nothing ever iterates over the 2^n codes to
// decode or to find an exit. dim() = width, symbols() = 2^width. A coordinate that is exactly 0
// reads as a bit that is not set (without Gray code and permutation: the lowest symbol of the tie).
class TESSERA_API Bits final : public Codebook {
 public:
  explicit Bits(const BitsOptions& options = {}, at::Device device = at::kCPU);

  int64_t symbols() const override { return int64_t{1} << options_.width; }
  int64_t dim() const override { return options_.width; }
  at::Device device() const override { return codes_.device(); }
  const BitsOptions& options() const { return options_; }

 private:
  at::Tensor do_encode(const at::Tensor& labels) const override;
  at::Tensor do_scores(const at::Tensor& x) const override;
  at::Tensor do_decode(const at::Tensor& x) const override;
  at::Tensor do_cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                              double label_smoothing) const override;
  Exit do_exit_time(const Trajectory& trajectory, const at::Tensor& x0, const at::Tensor& eps,
                    const at::Tensor& labels) const override;
  DecodedExit do_decode_and_exit(const Trajectory& trajectory, const at::Tensor& x0,
                                 const at::Tensor& eps) const override;

  BitsOptions options_;
  at::Tensor codes_;              // [2^n, n] float32: the code of every symbol
  at::Tensor pattern_of_symbol_;  // [2^n] int64: bit i set where coordinate i of the code is +s
  at::Tensor symbol_of_pattern_;  // [2^n] int64
};

}  // namespace tessera
