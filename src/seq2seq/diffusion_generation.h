#pragma once

#include "seq2seq/diffusion.h"
#include "seq2seq/generated.h"
#include "seq2seq/generation_batches.h"

namespace tessera::seq2seq {

// Predicts lengths, makes candidates, chooses, and fills in the results of the sentences.
void generate_by_diffusion(const Diffusion& model, const GenerationOptions& options,
                           const GenerateHooks& hooks, std::span<const SourceSentence> sentences,
                           std::span<Generated> results);

}  // namespace tessera::seq2seq
