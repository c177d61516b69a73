#pragma once

#include "corpus/corpus.h"
#include "seq2seq/seq2seq.h"
#include "task/text_options.h"
#include "task/validator.h"
#include "train/task.h"

#include <memory>

namespace tessera::task {

// Sentences to sentences: a corpus, and a Seq2Seq model that learns from it.
class TextTask final : public train::Task {
 public:
  // Throws Error if the corpus has nothing to validate on.
  TextTask(const TextOptions& options, corpus::Corpus corpus, uint64_t seed, at::Device device,
           ranks::Group& group = ranks::alone());

  nn::Trainable& model() override { return *model_; }
  const nn::Trainable& model() const override { return *model_; }
  int64_t batches(int64_t epoch) const override { return batcher_.batches(epoch); }
  nn::Inputs batch(int64_t epoch, int64_t number) const override;
  train::Validation validate(const at::Tensor& weights, int64_t step,
                             const std::function<void()>& pause) override;
  std::string score_text(double score) const override;
  safetensors::File weights_of(const std::filesystem::path& run_or_model) const override;
  void write_model(const std::filesystem::path& folder, const at::Tensor& weights,
                   int64_t step) const override;
  std::filesystem::path data() const override { return corpus_.folder(); }
  std::string fingerprint() const override { return corpus_.fingerprint(); }
  std::string unit() const override { return "tokens"; }
  std::string memory_hint() const override;
  std::vector<train::Fact> facts() const override;
  std::vector<std::string> next_commands(const std::filesystem::path& run) const override;

 private:
  // The score of validations: the loss if no sentences are generated.
  TextScore score() const;

  TextOptions options_;
  corpus::Corpus corpus_;
  uint64_t seed_;
  std::unique_ptr<seq2seq::Seq2Seq> model_;
  corpus::Batcher batcher_;
  Validator validator_;
};

}  // namespace tessera::task
