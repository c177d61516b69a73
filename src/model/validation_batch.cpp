#include "model/validation_batch.h"

#include <ATen/ATen.h>

namespace tessera::model {

ValidationBatch::ValidationBatch(const Seq2Seq& model, const text::Batch& batch, int64_t number,
                                 uint64_t seed)
    : ids(Seq2SeqBatch::of(batch)) {
  ids.source = ids.source.to(model.device());
  ids.target = ids.target.to(model.device());
  const auto step = 2 * static_cast<uint64_t>(number);
  draws = model.draw({seed, Purpose::validation, step}, {seed, Purpose::validation, step + 1},
                     batch.shape.rows, batch.shape.target);
}

}  // namespace tessera::model
