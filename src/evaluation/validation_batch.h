#pragma once

#include "seq2seq/seq2seq.h"

namespace tessera::evaluation {

// A batch of a validation split, with random numbers that are the same every time.
struct ValidationBatch {
  seq2seq::Seq2SeqBatch ids;
  TrainingStreams streams;

  //   number  of the batch; its random numbers are a function of (seed, number)
  ValidationBatch(const seq2seq::Seq2Seq& model, const corpus::Batch& batch, int64_t number,
                  uint64_t seed);
};

}  // namespace tessera::evaluation
