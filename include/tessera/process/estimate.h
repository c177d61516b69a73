#pragma once

#include <tessera/base/api.h>
#include <tessera/base/enum_names.h>
#include <tessera/process/codebook.h>

namespace tessera {

// Which point is used as a network's estimate x0_hat of x0. Training by cross-entropy makes
// estimates that point the right way but are much too short; a path that is built from them carries
// too little of the symbol.
enum class Estimate {
  raw,       // x0_hat as the network gives it
  mean,      // sum_j softmax(scores(x0_hat))_j E_j: least expected squared error
  nearest,   // the code that x0_hat decodes to
  rescaled,  // x0_hat, brought to the length of that code
};

template <>
struct EnumNames<Estimate> {
  static constexpr std::string_view what = "estimate";
  static constexpr std::array<std::pair<Estimate, std::string_view>, 4> values{
      {{Estimate::raw, "raw"},
       {Estimate::mean, "mean"},
       {Estimate::nearest, "nearest"},
       {Estimate::rescaled, "rescaled"}}};
};

// Throws UsageError if the codebook has no such estimate.
TESSERA_API void require_estimate(const Codebook& codebook, Estimate estimate);

// Without gradients.   x0_hat [..., d] -> [..., d]
//   logit_scale  for Estimate::mean, as in the objective
TESSERA_API at::Tensor estimate_of(const Codebook& codebook, const at::Tensor& x0_hat,
                                   Estimate estimate, double logit_scale = 1.0);

}  // namespace tessera
