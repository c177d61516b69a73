#pragma once

#include "seq2seq/generated.h"
#include "seq2seq/generation_batches.h"

#include <functional>
#include <span>

namespace tessera::seq2seq {

// Does the work of a batch. Stops at the next pause if nobody waits for any of its sentences any
// more.
//   work(pause)  calls `pause` before every network call; it may be empty
void while_waited_for(const GenerateHooks& hooks, std::span<const SourceSentence> sentences,
                      const GenerationBatch& batch,
                      const std::function<void(const std::function<void()>& pause)>& work);

}  // namespace tessera::seq2seq
