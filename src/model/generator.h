#pragma once

#include "model/candidate.h"
#include "model/generation_options.h"
#include "model/seq2seq.h"
#include "text/dictionary.h"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace tessera::model {

// What became of a source sentence.
struct Generated {
  std::vector<Candidate> candidates;  // number k has the k / noises-th likeliest length
  size_t chosen = 0;
  int64_t predicted_length = 0;  // the likeliest, end symbol included; 0: the source was empty
  int64_t nfe = 0;               // network calls; 0: the source was empty
  bool truncated = false;        // the source was longer than the model's positions

  const Candidate& best() const { return candidates[chosen]; }
  const std::vector<text::Id>& ids() const { return best().ids; }
};

// A step of the sampler, for those who want to watch.
struct GenerationStep {
  const SampleStep& sample;        // of the batch; rows k*candidates .. belong to lines[k]
  std::span<const int64_t> lines;  // line numbers of the sentences
  int64_t candidates;              // of every sentence
  const at::Tensor& visible;       // [rows, L] bool: positions that count
};

struct GenerateHooks {
  int64_t first_line = 0;                             // number of the first source
  std::function<void(int64_t sentences)> progress{};  // so many more are done
  std::function<void(const GenerationStep&)> step{};  // before every next step; slows it down
};

// Sentences from a trained model: lengths, candidates, choice. Noise is a function of (seed, line,
// candidate), so a sentence does not depend on its neighbours, apart from rounding where they
// change the padded shape it is computed in. Threads may share one. The model must outlive it.
class Generator {
 public:
  Generator(const Seq2Seq& model, const GenerationOptions& options);

  const GenerationOptions& options() const { return options_; }

  // One result per source, in order.
  //   sources  ids with the end symbol; an empty source (or an end symbol alone) gives an empty
  //            sentence, one that is too long loses its end, with a warning that names the line
  std::vector<Generated> generate(const std::vector<std::vector<text::Id>>& sources,
                                  const GenerateHooks& hooks = {}) const;

 private:
  const Seq2Seq* model_;
  GenerationOptions options_;
};

}  // namespace tessera::model
