#include "model/validation_batch.h"

#include <ATen/ATen.h>

namespace tessera::model {

ValidationBatch::ValidationBatch(const Seq2Seq& model, const text::Batch& batch, int64_t number,
                                 uint64_t seed) {
  const text::BatchShape& shape = batch.shape;
  const auto on_device = [&](const std::vector<int64_t>& symbols, int64_t length) {
    return at::tensor(symbols, at::kLong).view({shape.rows, length}).to(model.device());
  };
  ids = {on_device(batch.source, shape.source), on_device(batch.target, shape.target)};
  const auto step = 2 * static_cast<uint64_t>(number);
  draws = model.draw({seed, Purpose::validation, step}, {seed, Purpose::validation, step + 1},
                     shape.rows, shape.target);
}

}  // namespace tessera::model
