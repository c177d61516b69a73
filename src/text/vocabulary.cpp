#include "text/vocabulary.h"

#include "base/log.h"
#include "base/require.h"

#include <limits>
#include <vector>

namespace tessera::text {
namespace {

// The number of symbols mostly grows by one with each merge, but may stay or fall. So the search
// goes on until there are this many more symbols than wanted.
constexpr int64_t kSlack = 200;

WordCounts symbol_counts(const WordCounts& words, const Bpe& bpe) {
  WordCounts counts;
  std::vector<std::string_view> pieces;
  std::string symbol;
  for (const auto& [word, count] : words) {
    bpe.split(word, pieces);
    for (size_t k = 0; k < pieces.size(); ++k) {
      symbol = pieces[k];
      if (k + 1 < pieces.size()) symbol += bpe.options().separator;
      counts[symbol] += count;
    }
  }
  return counts;
}

// A dictionary of all symbols, and the Bpe that made them.
struct Candidate {
  Bpe bpe;
  Dictionary dictionary;

  static Candidate make(const WordCounts& words, const BpeCodes& codes, int64_t merges) {
    Bpe bpe(codes, {.merges = merges});
    const WordCounts counts = symbol_counts(words, bpe);
    return {bpe, Dictionary::from_counts(counts, std::numeric_limits<int64_t>::max())};
  }
};

}  // namespace

VocabularyLearner::VocabularyLearner(const VocabularyOptions& options) : options_(options) {
  require_option(options.size > Dictionary::kSpecials,
                 "a vocabulary must be larger than its {} special symbols, got {}",
                 Dictionary::kSpecials, options.size);
}

void VocabularyLearner::add(std::string_view line) {
  if (options_.kind == TokenizerKind::bpe)
    for (std::string& word : split_words(line, options_.raw)) ++counts_[std::move(word)];
  else
    for (std::string& symbol : split_symbols(line, options_.kind, options_.raw, nullptr))
      ++counts_[std::move(symbol)];
}

Tokenizer VocabularyLearner::learn_dictionary(const BpeCodes& codes) const {
  require(!counts_.empty(), "there is no text to make a dictionary of");
  const Bpe bpe(codes);
  return Tokenizer::bpe(bpe, Dictionary::from_counts(symbol_counts(counts_, bpe), options_.size),
                        options_.raw);
}

Tokenizer VocabularyLearner::learn() const {
  require(!counts_.empty(), "there is no text to learn a vocabulary from");
  if (options_.kind == TokenizerKind::words)
    return Tokenizer::words(Dictionary::from_counts(counts_, options_.size), options_.raw);
  if (options_.kind == TokenizerKind::characters)
    return Tokenizer::characters(Dictionary::from_counts(counts_, options_.size));

  const Candidate characters = Candidate::make(counts_, {}, 0);
  require_option(characters.dictionary.size() <= options_.size,
                 "a vocabulary of {} is too small: the characters of the text alone need {}",
                 options_.size, characters.dictionary.size());
  int64_t merges = 0, step = 0;  // the most that fit, and how many there are
  const auto watch = [&](int64_t symbols) {
    const int64_t size = symbols + Dictionary::kSpecials;
    ++step;
    if (size <= options_.size) merges = step;
    return size <= options_.size + kSlack;
  };
  const BpeCodes codes = learn_bpe(
      counts_,
      {.merges = 4 * options_.size, .min_frequency = options_.min_frequency, .after_merge = watch});

  // For a few words, applying the codes gives other pieces than learning them did (a symbol may be
  // made in two ways). So the last steps use the words as they will be split.
  Candidate chosen = Candidate::make(counts_, codes, merges);
  while (chosen.dictionary.size() > options_.size)
    chosen = Candidate::make(counts_, codes, --merges);
  while (merges < static_cast<int64_t>(codes.merges.size()) &&
         chosen.dictionary.size() < options_.size) {
    Candidate next = Candidate::make(counts_, codes, merges + 1);
    if (next.dictionary.size() > options_.size) break;
    chosen = std::move(next);
    ++merges;
  }
  log::info("{} merges, {} symbols", merges, chosen.dictionary.size());
  return Tokenizer::bpe(chosen.bpe, std::move(chosen.dictionary), options_.raw);
}

}  // namespace tessera::text
