#pragma once

#include "seq2seq/generated.h"
#include "seq2seq/generation_options.h"
#include "seq2seq/reranker.h"
#include "seq2seq/seq2seq.h"

#include <vector>

namespace tessera::seq2seq {

// Generates sentences with a trained model of any kind: makes candidates and chooses among them.
// Random numbers are functions of (seed, candidate), so a sentence does not depend on its place or
// its neighbours, apart from rounding if they change the padded shape it is computed in. Threads
// may share one Generator. The model must outlive it, and so must the reranker, which chooses if
// one is given.
class Generator {
 public:
  Generator(const Seq2Seq& model, const GenerationOptions& options,
            const Reranker* reranker = nullptr);

  const GenerationOptions& options() const { return options_; }

  // One result per source, in order.
  //   sources  ids with the end symbol; an empty source (or an end symbol alone) gives an empty
  //            sentence; a source that is too long is cut, with a warning that names the line
  std::vector<Generated> generate(const std::vector<std::vector<text::Id>>& sources,
                                  const GenerateHooks& hooks = {}) const;

 private:
  const Seq2Seq* model_;
  GenerationOptions options_;
  const Reranker* reranker_;
};

}  // namespace tessera::seq2seq
