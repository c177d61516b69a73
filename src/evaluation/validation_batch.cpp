#include "evaluation/validation_batch.h"

#include <ATen/ATen.h>

namespace tessera::evaluation {

corpus::Batcher validation_batches(const seq2seq::Seq2Seq& model, const corpus::Split& split,
                                   int64_t batch_tokens, uint64_t seed) {
  corpus::BatcherOptions options;
  options.tokens = batch_tokens;
  options.max_length = model.options().network.positions;
  options.shuffle = false;
  return {split, options, seed};
}

seq2seq::Seq2SeqBatch validation_batch(const seq2seq::Seq2Seq& model, const corpus::Batch& batch) {
  const auto ids = seq2seq::Seq2SeqBatch::of(batch);
  return {ids.source.to(model.device()), ids.target.to(model.device())};
}

TrainingStreams validation_streams(uint64_t seed, int64_t number) {
  const auto step = 2 * static_cast<uint64_t>(number);
  return {{seed, Purpose::validation, step}, {seed, Purpose::validation, step + 1}};
}

}  // namespace tessera::evaluation
