#pragma once

#include "corpus/split.h"
#include "seq2seq/seq2seq.h"

#include <tessera/evaluation/text_evaluation.h>

#include <cstdint>
#include <stop_token>

namespace tessera::evaluation {

// Over a split; times and noise are functions of (seed, place in the split). The model's family has
// a bound.
//   draws         times and noises of every sentence
//   batch_tokens  of a batch, padding included
//   stop          asked for every batch: Error
LikelihoodBound measure_bound(const seq2seq::Seq2Seq& model, const corpus::Split& split,
                              int64_t draws, int64_t batch_tokens, uint64_t seed,
                              const std::stop_token& stop = {});

}  // namespace tessera::evaluation
