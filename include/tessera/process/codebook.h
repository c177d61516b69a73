#pragma once

#include <tessera/base/api.h>
#include <tessera/process/trajectory.h>

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera {

// When a path leaves the cell it starts in.
struct Exit {
  at::Tensor time;     // [...] float: when the path first leaves; +inf where it never does
  at::Tensor outside;  // [...] bool: x0 was outside the cell to begin with (its time is 0)
};

struct DecodedExit {
  at::Tensor labels;  // [...] int64, decode(x0)
  Exit exit;          // of the cells of those labels; nothing is outside
};

// Symbols and the points that stand for them. A point x decodes to the symbol with the largest
// score f(x, j), the lowest index on a tie; the points that decode to a symbol are its cell. Only a
// codebook knows what a cell looks like: the rest of the process asks it.
//
// Shapes: labels [...] int64, points [..., dim()] float32 or float64; [...] may have no elements.
// Inputs of scores(), logits(), decode(), cross_entropy() and mean() have output_dim() numbers; for
// most codebooks they are points, too. Gradients flow through encode(), scores() and
// cross_entropy(), never through exit times.
class TESSERA_API Codebook {
 public:
  virtual ~Codebook() = default;

  virtual int64_t symbols() const = 0;                  // K
  virtual int64_t dim() const = 0;                      // d
  virtual int64_t output_dim() const { return dim(); }  // of a network's estimate
  virtual at::Device device() const = 0;

  at::Tensor encode(const at::Tensor& labels) const;  // [...] -> [..., d]
  at::Tensor decode(const at::Tensor& x) const;       // [..., d] -> [...]

  // [..., d] -> [..., K], -inf for symbols that cannot be decoded.
  at::Tensor scores(const at::Tensor& x) const;

  // The symbols that can be decoded have rows 0 .. decodable() - 1, in their order.
  virtual int64_t decodable() const { return symbols(); }
  at::Tensor logits(const at::Tensor& x) const;         // [..., d] -> [..., decodable()]: scores
  at::Tensor rows_of(const at::Tensor& labels) const;   // [...] -> [...], -1 for none
  at::Tensor symbols_of(const at::Tensor& rows) const;  // [...] -> [...]

  // Cross-entropy of the softmax over scores(x) against the labels, smoothed over the symbols that
  // can be decoded; 0 for labels that cannot.
  //   [..., d], [...]  ->  [...]
  at::Tensor cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                           double label_smoothing = 0.0) const;

  // The mean of the codes under the softmax over scores(logit_scale * x), for codebooks that have
  // one: the point with the least expected squared error if x was trained by cross_entropy().
  // Nothing of size elements x K is stored. Without gradients.
  //   [..., d] -> [..., d]
  virtual bool has_mean() const { return false; }
  at::Tensor mean(const at::Tensor& x, double logit_scale = 1.0) const;

  // How far apart codes are: the squared distance of a code to its nearest neighbour, divided by d,
  // as the mean over the symbols that can be decoded. Nothing of size K x K is stored. Without a
  // gradient.   -> scalar
  at::Tensor spacing() const;

  // First exit of the paths u*x0 + v*eps from the cells of `labels`. A label that cannot be decoded
  // (padding) has no cell: its time is 0 and it is not counted as outside.
  Exit exit_time(const Trajectory& trajectory, const at::Tensor& x0, const at::Tensor& eps,
                 const at::Tensor& labels) const;

  // The same for labels = decode(x0), with one set of scores for both.
  DecodedExit decode_and_exit(const Trajectory& trajectory, const at::Tensor& x0,
                              const at::Tensor& eps) const;

 private:
  // Arguments are checked before these are called; labels are in range or (on CUDA) have raised a
  // flag, so an implementation must not read out of bounds for a label outside [0, K).
  virtual at::Tensor do_encode(const at::Tensor& labels) const = 0;
  virtual at::Tensor do_scores(const at::Tensor& x) const = 0;
  virtual at::Tensor do_decode(const at::Tensor& x) const = 0;
  // For codebooks with symbols that cannot be decoded:
  virtual at::Tensor do_logits(const at::Tensor& x) const { return do_scores(x); }
  virtual at::Tensor do_rows_of(const at::Tensor& labels) const { return labels; }
  virtual at::Tensor do_symbols_of(const at::Tensor& rows) const { return rows; }
  virtual at::Tensor do_cross_entropy(const at::Tensor& x, const at::Tensor& labels,
                                      double label_smoothing) const = 0;
  virtual at::Tensor do_mean(const at::Tensor& x, double logit_scale) const;
  virtual Exit do_exit_time(const Trajectory& trajectory, const at::Tensor& x0,
                            const at::Tensor& eps, const at::Tensor& labels) const = 0;
  virtual DecodedExit do_decode_and_exit(const Trajectory& trajectory, const at::Tensor& x0,
                                         const at::Tensor& eps) const = 0;
};

}  // namespace tessera
