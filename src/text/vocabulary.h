#pragma once

#include "text/bpe_learner.h"
#include "text/tokenizer.h"

#include <cstdint>
#include <string_view>

namespace tessera::text {

struct VocabularyOptions {
  TokenizerKind kind = TokenizerKind::bpe;
  int64_t size = 8000;        // of the dictionary, the specials included, at most
  bool raw = true;            // real text, to be split into words and punctuation
  int64_t min_frequency = 2;  // of a pair to be merged (bpe)
};

// Learns a tokenizer from the lines of all languages together.
//   VocabularyLearner learner(options);
//   while (reader.next(line)) learner.add(line);
//   const Tokenizer tokenizer = learner.learn();
class VocabularyLearner {
 public:
  explicit VocabularyLearner(const VocabularyOptions& options);

  void add(std::string_view line);

  // For bpe: as many merges as possible such that every symbol of these lines has a place in the
  // dictionary. Its size comes as near to the one asked for as merges allow. Throws UsageError if
  // there are too many single characters already. For words and characters: the most frequent ones;
  // the others are <unk>. Counts in the dictionary are those of the lines. Throws Error if there
  // was no text.
  Tokenizer learn() const;

  // For bpe with given merges: only the dictionary is made, of the most frequent symbols.
  Tokenizer learn_dictionary(const BpeCodes& codes) const;

 private:
  VocabularyOptions options_;
  WordCounts counts_;  // of words for bpe, of symbols otherwise
};

}  // namespace tessera::text
