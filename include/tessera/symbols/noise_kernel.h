#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/symbols/survival.h>

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace tessera {

// How an estimate p of x0 becomes a distribution of x_s, given x_t.
enum class Reverse {
  plug_in,  // p is put into Bayes' formula as if it were x0: exact if p has not seen this x_t
  mean,     // the posteriors of all x0, weighted by p: exact if p is the posterior of x0
};

template <>
struct EnumNames<Reverse> {
  static constexpr std::string_view what = "reverse step";
  static constexpr std::array<std::pair<Reverse, std::string_view>, 2> values{
      {{Reverse::plug_in, "plug-in"}, {Reverse::mean, "mean"}}};
};

// What noise turns a symbol into: a Markov chain over K symbols and, in some kernels, one more
// state, the mask. Symbols are 0 .. K-1, the mask is K. It knows neither a network nor points.
//
// Shapes: states x [B, ...] int64; times s < t [B] or [], in [0, T]; u [B, ...] float64, uniform in
// [0, 1). Distributions have one more axis: [B, ..., K] over symbols, [B, ..., states()] over
// states, float32 or float64 like what they are made from (float64 if that is only times).
class TESSERA_API NoiseKernel {
 public:
  virtual ~NoiseKernel() = default;

  virtual int64_t symbols() const = 0;  // K
  virtual double horizon() const = 0;   // T
  virtual bool has_mask() const { return false; }
  int64_t states() const { return symbols() + (has_mask() ? 1 : 0); }
  int64_t mask() const { return has_mask() ? symbols() : -1; }
  // Whether time is continuous. Otherwise it has whole steps and no rates.
  virtual bool has_rates() const { return true; }

  // A draw of x_t, given x_s = x.
  virtual at::Tensor draw(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t,
                          const at::Tensor& u) const = 0;
  virtual at::Tensor start(const at::Tensor& u) const = 0;  // x_T, whatever x_0 was

  // log q(x_t = x | x_s = k) for all states k.
  virtual at::Tensor log_from(const at::Tensor& x, const at::Tensor& s,
                              const at::Tensor& t) const = 0;  // -> [B, ..., states]
  // sum_j p_j q(x_t = k | x_0 = j) for all states k; p need not be normalised.
  virtual at::Tensor forward(const at::Tensor& p, const at::Tensor& t) const = 0;
  // The same if p is sure of one symbol: q(x_t = k | x_0 = x0).   -> [B, ..., states] float64
  virtual at::Tensor marginal(const at::Tensor& x0, const at::Tensor& t) const;

  // Jumps per unit of t / T, 0 for k = x: from x to every k, and from every k to x.
  virtual at::Tensor rates_from(const at::Tensor& x, const at::Tensor& t) const = 0;
  virtual at::Tensor rates_into(const at::Tensor& x, const at::Tensor& t) const = 0;

  // log q(x_s | x_t, x_0), by Bayes.   x0 [B, ...] symbols  ->  [B, ..., states]
  at::Tensor log_posterior(const at::Tensor& xt, const at::Tensor& x0, const at::Tensor& s,
                           const at::Tensor& t) const;
  // log p(x_s | x_t) that follows from log_p0 [B, ..., K], normalised  ->  [B, ..., states]
  at::Tensor log_reverse(const at::Tensor& log_p0, const at::Tensor& xt, const at::Tensor& s,
                         const at::Tensor& t, Reverse reverse) const;
  // log p_t(k) / p_t(x_t) for all states k, as log_p0 implies them.
  at::Tensor log_ratios(const at::Tensor& log_p0, const at::Tensor& xt, const at::Tensor& t,
                        Reverse reverse) const;
  // Rates of the reversed chain from x_t to every k, 0 for k = x_t.   -> [B, ..., states]
  at::Tensor reverse_rates(const at::Tensor& log_p0, const at::Tensor& xt, const at::Tensor& t,
                           Reverse reverse) const;

  // x_s, drawn from log_reverse().
  //   u  [2, B, ...]
  virtual at::Tensor draw_reverse(const at::Tensor& log_p0, const at::Tensor& xt,
                                  const at::Tensor& s, const at::Tensor& t, const at::Tensor& u,
                                  Reverse reverse) const;

  // KL(q(x_s | x_t, x_0) || p(x_s | x_t)), with a gradient to log_p0; 0 where x0 < 0.  -> [B, ...]
  virtual at::Tensor divergence(const at::Tensor& log_p0, const at::Tensor& xt,
                                const at::Tensor& x0, const at::Tensor& s, const at::Tensor& t,
                                Reverse reverse) const;
  // Likewise the bound of continuous time: the limit of T * KL as steps get shorter.
  virtual at::Tensor divergence_rate(const at::Tensor& log_p0, const at::Tensor& xt,
                                     const at::Tensor& x0, const at::Tensor& t,
                                     Reverse reverse) const;
};

// q(x_t | x_0) = alpha(t) [x_t = x_0] + (1 - alpha(t)) [x_t = mask]: noise covers symbols. Nothing
// has the size of K x K. Both kinds of reverse steps are the same here.
class TESSERA_API AbsorbingKernel final : public NoiseKernel {
 public:
  AbsorbingKernel(int64_t symbols, const Survival& survival);

  int64_t symbols() const override { return symbols_; }
  double horizon() const override { return survival_.horizon(); }
  bool has_mask() const override { return true; }
  const Survival& survival() const { return survival_; }

  at::Tensor draw(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t,
                  const at::Tensor& u) const override;
  at::Tensor start(const at::Tensor& u) const override;
  at::Tensor log_from(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t) const override;
  at::Tensor forward(const at::Tensor& p, const at::Tensor& t) const override;
  at::Tensor rates_from(const at::Tensor& x, const at::Tensor& t) const override;
  at::Tensor rates_into(const at::Tensor& x, const at::Tensor& t) const override;
  at::Tensor draw_reverse(const at::Tensor& log_p0, const at::Tensor& xt, const at::Tensor& s,
                          const at::Tensor& t, const at::Tensor& u, Reverse reverse) const override;
  at::Tensor divergence(const at::Tensor& log_p0, const at::Tensor& xt, const at::Tensor& x0,
                        const at::Tensor& s, const at::Tensor& t, Reverse reverse) const override;
  at::Tensor divergence_rate(const at::Tensor& log_p0, const at::Tensor& xt, const at::Tensor& x0,
                             const at::Tensor& t, Reverse reverse) const override;

  // Chance that a mask of time t is uncovered by time s < t.   -> float64
  at::Tensor uncovered(const at::Tensor& s, const at::Tensor& t) const;

 private:
  int64_t symbols_;
  Survival survival_;
};

// The same, but one of the K symbols stands for the mask, as in the released D3PM. There is no
// further state, so an element that shows this symbol may be masked or not.
class TESSERA_API AbsorbingSymbolKernel final : public NoiseKernel {
 public:
  AbsorbingSymbolKernel(int64_t symbols, int64_t covered, const Survival& survival);

  int64_t symbols() const override { return symbols_; }
  double horizon() const override { return survival_.horizon(); }

  at::Tensor draw(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t,
                  const at::Tensor& u) const override;
  at::Tensor start(const at::Tensor& u) const override;
  at::Tensor log_from(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t) const override;
  at::Tensor forward(const at::Tensor& p, const at::Tensor& t) const override;
  at::Tensor rates_from(const at::Tensor& x, const at::Tensor& t) const override;
  at::Tensor rates_into(const at::Tensor& x, const at::Tensor& t) const override;

 private:
  int64_t symbols_, covered_;
  Survival survival_;
};

// q(x_t | x_0) = alpha(t) [x_t = x_0] + (1 - alpha(t)) / K: noise replaces a symbol by a random
// one. Nothing has the size of K x K.
class TESSERA_API UniformKernel final : public NoiseKernel {
 public:
  UniformKernel(int64_t symbols, const Survival& survival);

  int64_t symbols() const override { return symbols_; }
  double horizon() const override { return survival_.horizon(); }
  const Survival& survival() const { return survival_; }

  at::Tensor draw(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t,
                  const at::Tensor& u) const override;
  at::Tensor start(const at::Tensor& u) const override;
  at::Tensor log_from(const at::Tensor& x, const at::Tensor& s, const at::Tensor& t) const override;
  at::Tensor forward(const at::Tensor& p, const at::Tensor& t) const override;
  at::Tensor rates_from(const at::Tensor& x, const at::Tensor& t) const override;
  at::Tensor rates_into(const at::Tensor& x, const at::Tensor& t) const override;
  at::Tensor draw_reverse(const at::Tensor& log_p0, const at::Tensor& xt, const at::Tensor& s,
                          const at::Tensor& t, const at::Tensor& u, Reverse reverse) const override;
  at::Tensor divergence(const at::Tensor& log_p0, const at::Tensor& xt, const at::Tensor& x0,
                        const at::Tensor& s, const at::Tensor& t, Reverse reverse) const override;
  at::Tensor divergence_rate(const at::Tensor& log_p0, const at::Tensor& xt, const at::Tensor& x0,
                             const at::Tensor& t, Reverse reverse) const override;

 private:
  int64_t symbols_;
  Survival survival_;
};

}  // namespace tessera
