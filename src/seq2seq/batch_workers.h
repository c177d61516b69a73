#pragma once

#include "seq2seq/generation_batches.h"

#include <functional>

namespace tessera::seq2seq {

// Does `work` for every batch, in any order; batches do not depend on each other. Launching kernels
// keeps the host busier than the GPU, so there two threads do it, the second one in a stream of its
// own (at_once = 0: as suits the device). Throws what `work` first threw, when all threads have
// ended.
void for_each_batch(std::span<const GenerationBatch> batches, at::Device device,
                    const std::function<void(const GenerationBatch&)>& work, size_t at_once = 0);

}  // namespace tessera::seq2seq
