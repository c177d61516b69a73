#pragma once

#include <tessera/base/api.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

// How a Translator works. Options that are not set come from the model's folder.
struct TranslatorOptions {
  std::string device = "auto";             // auto, cpu, cuda or cuda:N
  std::string precision = "auto";          // float32, bfloat16, int8 (on a CPU); auto:
                                           // bfloat16 on CUDA only
  std::string checkpoint = {};             // of a run: best, last or a step; empty: best, else last
  std::optional<std::string> preset = {};  // fast, balanced or best; overridden by what follows
  std::optional<int64_t> steps = {};       // of the sampler: more are slower
  std::optional<double> r = {};            // confidence factor of sampling, 0 to 1
  std::optional<int64_t> lengths = {};     // lengths to try
  std::optional<int64_t> noises = {};      // tries of each; a text has lengths x noises candidates
  std::optional<std::string> selection = {};  // mbr, confidence, blend or staged
  uint64_t seed = 1;
};

// A translation and how it was chosen.
struct Translation {
  struct Candidate {
    std::string text;
    double confidence = 0;     // mean log-probability of its symbols
    double expected_bleu = 0;  // sentence BLEU against the other candidates, mean, 0 to 100
  };

  std::string text;
  std::vector<Candidate> candidates;  // none for an empty text
  size_t chosen = 0;                  // the place of `text` among them
};

// A trained sequence-to-sequence model, loaded from a folder: text in, text out.
//   tessera::Translator translator("runs/m30k");
//   std::cout << translator.translate("ein kleiner hund") << '\n';
// Threads may share one. The same text at the same place of a call gives the same translation
// again. Throws tessera::Error for folders that cannot be loaded and texts that are not UTF-8,
// UsageError for options that make no sense.
class TESSERA_API Translator {
 public:
  // A model folder, or the folder of a training run.
  explicit Translator(const std::filesystem::path& folder, const TranslatorOptions& options = {});
  ~Translator();
  Translator(Translator&&) noexcept;
  Translator& operator=(Translator&&) noexcept;

  std::string translate(std::string_view text) const;

  // Many texts at once are faster than one after the other.
  std::vector<std::string> translate(std::span<const std::string> texts) const;
  std::vector<Translation> translate_with_scores(std::span<const std::string> texts) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace tessera
