#pragma once

#include <tessera/engine/generate_options.h>
#include <tessera/engine/sample_options.h>
#include <tessera/process/family.h>

namespace tessera::engine {

// The sampler's options with the changes of a request; options it does not set stay. Throws
// UsageError for unknown names.
SamplerOptions changed(const SamplerOptions& sampler, const GenerateOptions& options);
SamplerOptions changed(const SamplerOptions& sampler, const SampleOptions& options);

// The reverse: fills in what is in effect.
void describe(const SamplerOptions& sampler, const Family& family, GenerateOptions& options);
void describe(const SamplerOptions& sampler, const Family& family, SampleOptions& options);

}  // namespace tessera::engine
