#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/process/codebook.h>

namespace tessera {

// How a network says which value it expects.
enum class ValueHead {
  logits,          // a number for every value
  logistic,        // mean and log-scale of a logistic distribution: close values get similar scores
  logistic_parts,  // the same, with values as equal parts of [-1, 1] (tauLDR)
};

template <>
struct EnumNames<ValueHead> {
  static constexpr std::string_view what = "head";
  static constexpr std::array<std::pair<ValueHead, std::string_view>, 3> values{
      {{ValueHead::logits, "logits"},
       {ValueHead::logistic, "logistic"},
       {ValueHead::logistic_parts, "logistic-parts"}}};
};

// Values 0 .. K-1 as symbols. A network reads value x as the number 2 x / (K - 1) - 1. With a mask
// there is one more symbol, K, which cannot be decoded, and a second number that marks it: a mask
// is (0, 1), a value (v, 0). A network does not estimate such a point, but K logits or the two
// numbers of a logistic distribution. So there are no cells, and no paths out of them.
class TESSERA_API PixelValues final : public Codebook {
 public:
  PixelValues(int64_t values, ValueHead head, bool mask, at::Device device = at::kCPU);

  int64_t symbols() const override { return values_ + (mask_ ? 1 : 0); }
  int64_t decodable() const override { return values_; }
  int64_t dim() const override { return mask_ ? 2 : 1; }
  int64_t output_dim() const override { return head_ == ValueHead::logits ? values_ : 2; }
  at::Device device() const override { return codes_.device(); }
  int64_t mask() const { return mask_ ? values_ : -1; }  // -1: there is none

 private:
  at::Tensor do_encode(const at::Tensor& labels) const override;
  at::Tensor do_scores(const at::Tensor& x) const override;
  at::Tensor do_decode(const at::Tensor& x) const override;
  at::Tensor do_logits(const at::Tensor& x) const override;
  at::Tensor do_rows_of(const at::Tensor& labels) const override;
  at::Tensor do_cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                              double label_smoothing) const override;
  Exit do_exit_time(const Trajectory& trajectory, const at::Tensor& x0, const at::Tensor& eps,
                    const at::Tensor& labels) const override;
  DecodedExit do_decode_and_exit(const Trajectory& trajectory, const at::Tensor& x0,
                                 const at::Tensor& eps) const override;

  int64_t values_;
  ValueHead head_;
  bool mask_;
  at::Tensor codes_;  // [symbols, dim]
};

}  // namespace tessera
