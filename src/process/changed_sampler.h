#pragma once

#include <tessera/process/sampler.h>

#include <cstdint>
#include <optional>

namespace tessera {

// The options of a sampler with the user's changes; what is not set stays as it was. With another
// number of steps, a sampler that leaves out a share of its steps leaves out the same share. With
// an r, a sampler without the boundary uses it (rescale_reverse). Throws UsageError for less than
// one step and for an r outside [0, 1].
SamplerOptions changed_sampler(SamplerOptions options, std::optional<int64_t> steps,
                               std::optional<double> r, uint64_t seed);

}  // namespace tessera
