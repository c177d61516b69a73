#include "process/changed_sampler.h"

#include "base/require.h"

namespace tessera {

SamplerOptions changed_sampler(SamplerOptions options, std::optional<int64_t> steps,
                               std::optional<double> r, uint64_t seed) {
  if (steps) {
    require_option(*steps >= 1, "a sampler makes at least 1 step, got {}", *steps);
    options.skip_last = options.skip_last * *steps / options.steps;
    options.steps = *steps;
  }
  if (r) {
    require_option(*r >= 0 && *r <= 1, "r must be in [0, 1], got {}", *r);
    options.r = r;
    options.rescale_reverse = true;
  }
  options.seed = seed;
  return options;
}

}  // namespace tessera
