#pragma once

#include "corpus/batcher.h"
#include "corpus/corpus.h"
#include "process/boundary_statistics.h"
#include "ranks/group.h"
#include "seq2seq/generation_options.h"
#include "seq2seq/seq2seq.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::task {

// The results of a validation, with the averaged weights and the same noise every time.
struct Measurement {
  double loss = 0;                                    // per token
  std::vector<std::pair<std::string, double>> parts;  // what the model measures, by name
  std::optional<BoundaryStatistics> boundary;         // diffusion models only
  // Of generated sentences, if any were asked for; percent.
  std::optional<double> bleu, exact_match;
  double length_ratio = 0;  // words generated over those of the references
  std::string bleu_signature;
  double per_second = 0;  // sentences
  struct Example {
    std::string source, generated, reference;
  };
  std::vector<Example> examples;  // the first few sentences
};

// Measures a model on a split of a corpus. The processes of a group share the work, and get equal
// results but for the speed. Model, corpus and group must outlive it.
class Validator {
 public:
  Validator(seq2seq::Seq2Seq& model, const corpus::Corpus& corpus, const std::string& split,
            const corpus::BatcherOptions& batches, const seq2seq::GenerationOptions& generation,
            int64_t sentences, uint64_t seed, ranks::Group& group = ranks::alone());

  // Puts weights like parameters().values() into the model for the measurement, and restores its
  // own.
  //   pause  called now and then; an exception from it ends the measurement
  Measurement measure(const at::Tensor& weights, const std::function<void()>& pause);

 private:
  void measure_loss(Measurement& found, const std::function<void()>& pause);
  void measure_generation(Measurement& found, const std::function<void()>& pause);
  // What the model makes of the first sentences, in order.
  std::vector<std::string> generated_lines(const std::function<void()>& pause);
  void warn_of_short_estimates(const Measurement& found);

  seq2seq::Seq2Seq& model_;
  ranks::Group& group_;
  const corpus::Corpus& corpus_;
  const corpus::Split& split_;
  corpus::Batcher batcher_;
  seq2seq::GenerationOptions generation_;
  int64_t sentences_;
  uint64_t seed_;
  bool warned_ = false;  // of short estimates: once is enough
};

}  // namespace tessera::task
