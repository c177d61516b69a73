#include "evaluation/validation_batch.h"

#include <ATen/ATen.h>

namespace tessera::evaluation {
namespace {

TrainingStreams validation_streams(uint64_t seed, int64_t number) {
  const auto step = 2 * static_cast<uint64_t>(number);
  return {{seed, Purpose::validation, step}, {seed, Purpose::validation, step + 1}};
}

}  // namespace

ValidationBatch::ValidationBatch(const seq2seq::Seq2Seq& model, const corpus::Batch& batch,
                                 int64_t number, uint64_t seed)
    : ids(seq2seq::Seq2SeqBatch::of(batch)), streams(validation_streams(seed, number)) {
  ids.source = ids.source.to(model.device());
  ids.target = ids.target.to(model.device());
}

}  // namespace tessera::evaluation
