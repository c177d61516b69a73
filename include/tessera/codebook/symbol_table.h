#pragma once

#include <tessera/base/api.h>
#include <tessera/process/codebook.h>

namespace tessera {

// Symbols without an order, which a network reads as vectors of a table. With a mask there is one
// symbol more, K, which cannot be decoded and has the last vector. A network does not estimate such
// a vector, but K logits. So there are no cells, and no paths out of them.
class TESSERA_API SymbolTable final : public Codebook {
 public:
  //   weight  [K, d], with a mask [K + 1, d], floating point; codes carry its gradient
  SymbolTable(at::Tensor weight, bool mask);

  int64_t symbols() const override { return weight_.size(0); }
  int64_t decodable() const override { return symbols() - (mask_ ? 1 : 0); }
  int64_t dim() const override { return weight_.size(1); }
  int64_t output_dim() const override { return decodable(); }
  at::Device device() const override { return weight_.device(); }

 private:
  at::Tensor do_encode(const at::Tensor& labels) const override;
  at::Tensor do_scores(const at::Tensor& x) const override;
  at::Tensor do_decode(const at::Tensor& x) const override;
  at::Tensor do_logits(const at::Tensor& x) const override { return x; }
  at::Tensor do_rows_of(const at::Tensor& labels) const override;
  at::Tensor do_cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                              double label_smoothing) const override;
  Exit do_exit_time(const Trajectory& trajectory, const at::Tensor& x0, const at::Tensor& eps,
                    const at::Tensor& labels) const override;
  DecodedExit do_decode_and_exit(const Trajectory& trajectory, const at::Tensor& x0,
                                 const at::Tensor& eps) const override;

  at::Tensor weight_;
  bool mask_;
};

}  // namespace tessera
