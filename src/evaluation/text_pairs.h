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

// The same as symbols, with end symbols.
struct SymbolPairs {
  std::vector<std::vector<text::Id>> sources, references;

  // With the model's tokenizer; what a corpus has of the same tokenizer is taken as it is.
  //   with_references  otherwise there are none
  static SymbolPairs of(const TextPairs& pairs, const Engine& engine, bool with_references);

  corpus::Split split() const;
};

}  // namespace tessera::evaluation
