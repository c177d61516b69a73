#pragma once

#include "corpus/batcher.h"
#include "seq2seq/seq2seq.h"

#include <cstdint>

// How a split is measured: its batches, and random numbers that are the same every time.
namespace tessera::evaluation {

// All sentences that the model can read.
//   batch_tokens  of a batch, padding included
corpus::Batcher validation_batches(const seq2seq::Seq2Seq& model, const corpus::Split& split,
                                   int64_t batch_tokens, uint64_t seed);

// On the model's device.
seq2seq::Seq2SeqBatch validation_batch(const seq2seq::Seq2Seq& model, const corpus::Batch& batch);

//   number  of the batch or, if it is measured several times, of the measurement
TrainingStreams validation_streams(uint64_t seed, int64_t number);

}  // namespace tessera::evaluation
