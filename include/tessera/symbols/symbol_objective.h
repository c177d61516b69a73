#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/symbols/symbol_process.h>

#include <functional>

namespace tessera {

// What a network of symbols is taught.
enum class SymbolTarget {
  bound,           // the bound of the likelihood
  cross_entropy,   // the cross-entropy of x0 at every position, with equal weight at all times
  score_entropy,   // logits are scores: the bound, with a penalty for unnormalised scores
  ratio_matching,  // the likelihood of x_t given all other positions
  one_jump,        // the bound of continuous time, estimated after one more jump (tauLDR)
};

// How masked positions are weighted in the bound.
enum class MaskWeight {
  bound,   // as the bound has it
  flat,    // all times equally
  linear,  // 1 - t / T
};

template <>
struct EnumNames<SymbolTarget> {
  static constexpr std::string_view what = "objective of symbols";
  static constexpr std::array<std::pair<SymbolTarget, std::string_view>, 5> values{
      {{SymbolTarget::bound, "bound"},
       {SymbolTarget::cross_entropy, "cross-entropy"},
       {SymbolTarget::score_entropy, "score-entropy"},
       {SymbolTarget::ratio_matching, "ratio-matching"},
       {SymbolTarget::one_jump, "one-jump"}}};
};
template <>
struct EnumNames<MaskWeight> {
  static constexpr std::string_view what = "weight of masks";
  static constexpr std::array<std::pair<MaskWeight, std::string_view>, 3> values{
      {{MaskWeight::bound, "bound"}, {MaskWeight::flat, "flat"}, {MaskWeight::linear, "linear"}}};
};

struct SymbolObjectiveOptions {
  SymbolTarget target = SymbolTarget::bound;
  MaskWeight weight = MaskWeight::bound;  // of the bound of masks
  double cross_entropy_weight = 0;        // of x0 at every position, added to the bound
  double label_smoothing = 0;             // of cross-entropies, in [0, 1)
};

// What a network says about x0, computed only when it is needed.
struct SymbolPrediction {
  std::function<at::Tensor()> logits;    // [B, ..., K]
  std::function<at::Tensor()> surprise;  // [B, ...]  -log p(x0), 0 where x0 < 0

  // From logits alone.   logits [B, ..., K], x0 [B, ...]
  static TESSERA_API SymbolPrediction of(const at::Tensor& logits, const at::Tensor& x0);
};

// Throws UsageError for an objective that the process does not have.
TESSERA_API void require_objective(const SymbolProcess& process,
                                   const SymbolObjectiveOptions& options);

// An unbiased estimate of the negative bound of the log-likelihood, in nats per element: of the
// whole bound, from one time per sample. It is 0 where x0 < 0.
//   xt [B, ...] states, x0 [B, ...] symbols, t [B]  ->  [B, ...]
TESSERA_API at::Tensor symbol_bound(const SymbolProcess& process,
                                    const SymbolPrediction& prediction, const at::Tensor& xt,
                                    const at::Tensor& x0, const at::Tensor& t);

// The estimate of the same bound that tauLDR trains on, from x after one jump(). It takes both
// rates and ratios at x, whereas the bound takes some of them before the jump.
TESSERA_API at::Tensor one_jump_bound(const SymbolProcess& process,
                                      const SymbolPrediction& prediction, const at::Tensor& x,
                                      const at::Tensor& x0, const at::Tensor& t);

// Means over the elements that count, in nats; total carries the gradient.
struct SymbolLoss {
  at::Tensor total, bound, cross_entropy;
};

//   mask  [B, ...] bool (true: counts), or undefined: all count
TESSERA_API SymbolLoss symbol_objective(const SymbolProcess& process,
                                        const SymbolPrediction& prediction, const at::Tensor& xt,
                                        const at::Tensor& x0, const at::Tensor& t,
                                        const at::Tensor& mask,
                                        const SymbolObjectiveOptions& options = {});

// The distribution of x0 that reverse steps use, from a network's logits. They are its logarithm,
// except for scores of uniform noise, which are ratios at time t.
//   logits [..., K], xt [...] states, t a time -> [..., K] normalised logarithms
TESSERA_API at::Tensor log_estimate(const SymbolProcess& process, SymbolTarget target,
                                    const at::Tensor& logits, const at::Tensor& xt, double t);

}  // namespace tessera
