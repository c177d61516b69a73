#pragma once

#include <tessera/process/sampler.h>

#include <cstdint>
#include <optional>

namespace tessera {

// The options of a sampler with what its user sets; what is not set stays as it was. A sampler that
// leaves out a share of its steps leaves out the same share of others, and one that samples without
// the boundary does so no more where r is set. Throws UsageError for less
// than one step and for an r outside [0, 1].
SamplerOptions changed_sampler(SamplerOptions options, std::optional<int64_t> steps,
                               std::optional<double> r, uint64_t seed);

}  // namespace tessera
