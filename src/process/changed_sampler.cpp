#include "process/changed_sampler.h"

#include "base/require.h"

namespace tessera {

SamplerOptions changed_sampler(SamplerOptions options, std::optional<int64_t> steps,
                               std::optional<double> r, uint64_t seed) {
  options.steps = steps.value_or(options.steps);
  if (r) {
    require_option(*r >= 0 && *r <= 1, "r must be in [0, 1], got {}", *r);
    options.r = r;
  }
  options.seed = seed;
  return options;
}

}  // namespace tessera
