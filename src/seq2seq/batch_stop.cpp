#include "seq2seq/batch_stop.h"

#include <algorithm>

namespace tessera::seq2seq {
namespace {

struct NobodyWaits {};

}  // namespace

void while_waited_for(const GenerateHooks& hooks, std::span<const SourceSentence> sentences,
                      const GenerationBatch& batch,
                      const std::function<void(const std::function<void()>& pause)>& work) {
  if (!hooks.stopped) return work(hooks.pause);
  const auto pause = [&] {
    if (hooks.pause) hooks.pause();
    const bool nobody = std::ranges::all_of(
        batch.sentences, [&](size_t place) { return hooks.stopped(sentences[place].index); });
    if (nobody) throw NobodyWaits();
  };
  try {
    work(pause);
  } catch (const NobodyWaits&) {
  }
}

}  // namespace tessera::seq2seq
