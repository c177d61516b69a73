#pragma once

#include "corpus/split.h"
#include "seq2seq/seq2seq.h"

#include <tessera/evaluation/text_evaluation.h>
#include <tessera/process/estimate.h>

#include <cstdint>
#include <stop_token>

namespace tessera::evaluation {

// Of the estimate a sampler uses; over a split; noise is a function of (seed, place in the split).
// The model's family has a process.
//   batch_tokens  of a batch, padding included
//   stop          asked for every batch: Error
OneStep measure_one_step(const seq2seq::Seq2Seq& model, const corpus::Split& split,
                         int64_t batch_tokens, uint64_t seed, Estimate estimate = Estimate::raw,
                         const std::stop_token& stop = {});

}  // namespace tessera::evaluation
