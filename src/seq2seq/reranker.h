#pragma once

#include "seq2seq/generated.h"
#include "seq2seq/generation_batches.h"
#include "seq2seq/seq2seq.h"

#include <filesystem>
#include <memory>

namespace tessera::seq2seq {

// A model with probabilities that chooses among the candidates of another one: by the mean
// log-probability per symbol, end symbol included.
class Reranker {
 public:
  // A run or a model. Throws Error if it cannot be loaded, has no probabilities, or has another
  // dictionary than the model whose candidates it is to judge.
  Reranker(const std::filesystem::path& run_or_model, const text::Dictionary& dictionary,
           at::Device device, nn::Precision precision);

  // Fills in Candidate::rerank_score and chooses again, for all sentences at once.
  void choose(std::span<const SourceSentence> sentences, std::span<Generated> results,
              int64_t batch_tokens) const;

 private:
  std::unique_ptr<const Seq2Seq> judge_;
};

}  // namespace tessera::seq2seq
