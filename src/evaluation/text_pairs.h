#pragma once

#include "corpus/split.h"

#include <tessera/engine/engine.h>
#include <tessera/evaluation/text_evaluation.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tessera::evaluation {

// Texts to measure a model with, and their references.
struct TextPairs {
  std::vector<std::string> sources, references;

  // Where they are from: a folder that `tessera prepare` wrote.
  struct Origin {
    std::filesystem::path folder;
    corpus::Split split;
  };
  std::optional<Origin> origin = {};

  // Throws Error for a corpus or a split that is not there, or has no sentences.
  static TextPairs read(const CorpusPart& part);

  int64_t size() const { return std::ssize(sources); }
};

// The same pairs as symbols, with end symbols.
struct SymbolPairs {
  std::vector<std::vector<text::Id>> sources, references;

  // Uses the model's tokenizer. If the corpus was made with an equal one, its symbols are taken.
  //   with_references  false: there are none
  static SymbolPairs of(const TextPairs& pairs, const Engine& engine, bool with_references);

  corpus::Split split() const;
};

}  // namespace tessera::evaluation
