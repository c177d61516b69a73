#include "seq2seq/validation_batch.h"

#include <ATen/ATen.h>

namespace tessera::seq2seq {
namespace {

TrainingStreams validation_streams(uint64_t seed, int64_t number) {
  const auto step = 2 * static_cast<uint64_t>(number);
  return {{seed, Purpose::validation, step}, {seed, Purpose::validation, step + 1}};
}

}  // namespace

ValidationBatch::ValidationBatch(const Seq2Seq& model, const corpus::Batch& batch, int64_t number,
                                 uint64_t seed)
    : ids(Seq2SeqBatch::of(batch)), streams(validation_streams(seed, number)) {
  ids.source = ids.source.to(model.device());
  ids.target = ids.target.to(model.device());
}

}  // namespace tessera::seq2seq
