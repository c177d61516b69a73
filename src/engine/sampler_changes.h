#pragma once

#include <tessera/engine/generate_options.h>
#include <tessera/engine/sample_options.h>
#include <tessera/process/family.h>

namespace tessera::engine {

// The sampler's options with what a request changes; what is not set stays as it was. Throws
// UsageError for names that are not known.
SamplerOptions changed(const SamplerOptions& sampler, const GenerateOptions& options);
SamplerOptions changed(const SamplerOptions& sampler, const SampleOptions& options);

// The other way round: fills in what is in effect.
void describe(const SamplerOptions& sampler, const Family& family, GenerateOptions& options);
void describe(const SamplerOptions& sampler, const Family& family, SampleOptions& options);

}  // namespace tessera::engine
