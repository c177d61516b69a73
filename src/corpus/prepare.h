#pragma once

#include "corpus/manifest.h"
#include "corpus/pair_reader.h"
#include "text/tokenizer.h"

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace tessera::corpus {

struct PrepareOptions {
  std::filesystem::path out;                // the corpus folder
  std::map<std::string, PairFiles> splits;  // by name: "train", "valid", "test"

  Languages languages = {};  // of the sources and of the targets

  text::TokenizerKind tokenizer = text::TokenizerKind::bpe;
  int64_t vocab = 8000;       // limit of dictionary symbols, specials included; 0: all
  bool pretokenised = false;  // words are already separated by blanks, and stay so

  // Given instead of learned. Codes alone: the dictionary is counted.
  std::filesystem::path codes, dictionary;

  // Pairs of the training split that are left out. Other splits keep every line, so that output
  // fits input.
  int64_t max_length = 256;  // limit of tokens per side, end symbol included
  double max_ratio = 0;      // limit of longer side / shorter side; 0: any

  bool replace_invalid = false;  // U+FFFD for invalid UTF-8 and NUL bytes; otherwise an error
  bool replace_corpus = false;   // if `out` is a corpus already
};

// Makes a corpus folder from text files. Reads the training files twice if something is learned
// from them. Holds in memory the counts of distinct words and a hash of every held-out pair, never
// the text. Warns about held-out pairs that are trained on and about columns that seem to be
// swapped.
Manifest prepare(const PrepareOptions& options);

}  // namespace tessera::corpus
