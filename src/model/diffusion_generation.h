#pragma once

#include "model/diffusion.h"
#include "model/generated.h"
#include "model/generation_batches.h"

namespace tessera::model {

// Lengths, candidates, choice: fills in the results of the sentences.
void generate_by_diffusion(const Diffusion& model, const GenerationOptions& options,
                           const GenerateHooks& hooks, std::span<const SourceSentence> sentences,
                           std::span<Generated> results);

}  // namespace tessera::model
