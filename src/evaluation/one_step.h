#pragma once

#include "corpus/split.h"
#include "seq2seq/seq2seq.h"

#include <tessera/evaluation/text_evaluation.h>
#include <tessera/process/estimate.h>

#include <cstdint>
#include <stop_token>

namespace tessera::evaluation {

// Measures the estimate that a sampler uses, over a split. Noise is a function of (seed, place in
// the split). The model's family must have a process.
//   batch_tokens  tokens of a batch, padding included
//   stop          checked before every batch; a request to stop throws Error
OneStep measure_one_step(const seq2seq::Seq2Seq& model, const corpus::Split& split,
                         int64_t batch_tokens, uint64_t seed, Estimate estimate = Estimate::raw,
                         const std::stop_token& stop = {});

}  // namespace tessera::evaluation
