#pragma once

#include <tessera/engine/generate_options.h>
#include <tessera/engine/sample_options.h>
#include <tessera/process/sampler.h>

namespace tessera::engine {

// The sampler's options with what a request changes; what is not set stays as it was. Throws
// UsageError for names that are not known.
SamplerOptions changed(const SamplerOptions& sampler, const GenerateOptions& options);
SamplerOptions changed(const SamplerOptions& sampler, const SampleOptions& options);

// The other way round: fills in what is in effect.
//   r  of training, for a sampler that has none of its own
void describe(const SamplerOptions& sampler, double r, GenerateOptions& options);
void describe(const SamplerOptions& sampler, double r, SampleOptions& options);

}  // namespace tessera::engine
