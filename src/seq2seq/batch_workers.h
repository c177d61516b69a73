#pragma once

#include "seq2seq/generation_batches.h"

#include <functional>

namespace tessera::seq2seq {

// Calls `work` for every batch, in any order; batches do not depend on each other. On a GPU,
// launching kernels keeps the host busier than the device, so two threads share the work, the
// second one with a stream of its own. When all threads have ended, throws the first exception of
// `work`.
//   at_once  number of threads; 0: as suits the device
void for_each_batch(std::span<const GenerationBatch> batches, at::Device device,
                    const std::function<void(const GenerationBatch&)>& work, size_t at_once = 0);

}  // namespace tessera::seq2seq
