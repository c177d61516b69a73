#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/process/codebook.h>

#include <vector>

namespace tessera {

// What is done to the rows of an embedding table before they are used as codes.
enum class Normalise {
  none,
  scaled,     // times sqrt(d): lengths are free; about sqrt(d) if rows start with length 1
  l2,         // to length sqrt(d)
  layernorm,  // mean 0 and variance 1 over d, so length sqrt(d) too
};

template <>
struct EnumNames<Normalise> {
  static constexpr std::string_view what = "normalisation";
  static constexpr std::array<std::pair<Normalise, std::string_view>, 4> values{
      {{Normalise::none, "none"},
       {Normalise::scaled, "scaled"},
       {Normalise::l2, "l2"},
       {Normalise::layernorm, "layernorm"}}};
};

struct EmbeddingTableOptions {
  Normalise normalise = Normalise::layernorm;
  // Symbols that no point decodes to: padding, begin of sentence, unused rows.
  std::vector<int64_t> undecodable = {};
};

// One code per symbol: f(x, j) = x . E_j + c_j, with E the normalised table and c an optional
// output bias. Without a bias the cells are cones from the origin; with one they are affine (c_j =
// -|E_j|^2 / 2 is nearest neighbour).
class TESSERA_API EmbeddingTable final : public Codebook {
 public:
  // weight [K, d] float32 or float64; trainable if it requires a gradient; the codes then carry it.
  // bias [K] or undefined.
  explicit EmbeddingTable(at::Tensor weight, const EmbeddingTableOptions& options = {},
                          at::Tensor bias = {});

  // Normalises the codes again, as at construction. Call it after the weights have changed, once
  // per training step.
  void refresh();

  int64_t symbols() const override { return weight_.size(0); }
  int64_t dim() const override { return weight_.size(1); }
  int64_t decodable() const override { return decodable_.codes.size(0); }
  at::Device device() const override { return weight_.device(); }
  // [K, d] normalised, undecodable symbols included: they may be inputs. A row of zeros (padding)
  // stays zero.
  const at::Tensor& codes() const { return codes_; }
  bool has_mean() const override { return true; }

 private:
  at::Tensor do_encode(const at::Tensor& labels) const override;
  at::Tensor do_scores(const at::Tensor& x) const override;
  at::Tensor do_decode(const at::Tensor& x) const override;
  at::Tensor do_logits(const at::Tensor& x) const override;
  at::Tensor do_rows_of(const at::Tensor& labels) const override;
  at::Tensor do_symbols_of(const at::Tensor& rows) const override;
  at::Tensor do_cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                              double label_smoothing) const override;
  at::Tensor do_mean(const at::Tensor& x, double logit_scale) const override;
  Exit do_exit_time(const Trajectory& trajectory, const at::Tensor& x0, const at::Tensor& eps,
                    const at::Tensor& labels) const override;
  DecodedExit do_decode_and_exit(const Trajectory& trajectory, const at::Tensor& x0,
                                 const at::Tensor& eps) const override;

  // The n symbols that can be decoded, in their order (n = K if nothing is undecodable):
  struct Decodable {
    at::Tensor symbol;  // [n] int64: the symbol of a row; undefined where n = K
    at::Tensor row;     // [K] int64: the row of a symbol, -1 for none; undefined where n = K
    at::Tensor codes;   // [n, d], carries the gradient
    at::Tensor bias;    // [n] or undefined
  };
  void check_lengths() const;

  // rows [N] of the labels, or undefined: those of decode(x0).
  DecodedExit find_exit(const Trajectory& trajectory, const at::Tensor& x0, const at::Tensor& eps,
                        const at::Tensor& rows) const;
  at::Tensor weight_, bias_, codes_;
  EmbeddingTableOptions options_;
  Decodable decodable_;
};

}  // namespace tessera
