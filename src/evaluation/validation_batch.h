#pragma once

#include "seq2seq/seq2seq.h"

namespace tessera::evaluation {

// A batch of a split that is measured on, and random numbers that are the same every time.
struct ValidationBatch {
  seq2seq::Seq2SeqBatch ids;
  TrainingStreams streams;

  //   number  of the batch: with the seed, what its random numbers are a function of
  ValidationBatch(const seq2seq::Seq2Seq& model, const corpus::Batch& batch, int64_t number,
                  uint64_t seed);
};

}  // namespace tessera::evaluation
