#pragma once

#include "seq2seq/autoregressive.h"
#include "seq2seq/generated.h"
#include "seq2seq/generation_batches.h"

namespace tessera::seq2seq {

// Generates sentences with an autoregressive model, from left to right, and fills in the results.
// Candidates are the `beam` best that were found, best first, or as many that were drawn
// (generate.temperature).
void generate_by_search(const Autoregressive& model, const GenerationOptions& options,
                        const GenerateHooks& hooks, std::span<const SourceSentence> sentences,
                        std::span<Generated> results);

}  // namespace tessera::seq2seq
