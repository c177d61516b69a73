#pragma once

#include "corpus/split.h"
#include "seq2seq/seq2seq.h"

#include <tessera/evaluation/text_evaluation.h>

#include <cstdint>
#include <stop_token>

namespace tessera::evaluation {

// Measures the bound over a split. Times and noise are functions of (seed, place in the split). The
// model's family must have a bound.
//   draws         draws of time and noise per sentence
//   batch_tokens  tokens of a batch, padding included
//   stop          checked before every batch; a request to stop throws Error
LikelihoodBound measure_bound(const seq2seq::Seq2Seq& model, const corpus::Split& split,
                              int64_t draws, int64_t batch_tokens, uint64_t seed,
                              const std::stop_token& stop = {});

}  // namespace tessera::evaluation
