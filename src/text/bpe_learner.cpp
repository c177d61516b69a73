#include "text/bpe_learner.h"

#include "base/progress.h"
#include "base/require.h"
#include "text/pair_statistics.h"
#include "text/utf8.h"

#include <algorithm>
#include <vector>

namespace tessera::text {
namespace {

using Symbols = std::vector<int32_t>;

// White space that can be inside a word: all but spaces and line ends.
bool has_blank(std::string_view text) {
  const std::u32string decoded = decode_utf8(text);
  return std::any_of(decoded.begin(), decoded.end(), [](char32_t c) {
    return character_class(c) == CharacterClass::blank || (c >= 0x1C && c <= 0x1F);
  });
}

std::string_view code_point_before(std::string_view text, size_t position) {
  size_t begin = position;
  while (begin > 0 && (text[--begin] & 0xC0) == 0x80) {
  }
  return text.substr(begin, position - begin);
}

class Learner {
 public:
  explicit Learner(const WordCounts& counts);

  BpeCodes run(const BpeLearnerOptions& options);

 private:
  struct Word {
    Symbols symbols;
    int64_t count;
    bool has_blank;
  };

  int32_t intern(const std::string& name);
  void use(int32_t symbol, int64_t times);
  void merge(int32_t pair);
  Symbols joined(const Symbols& word, int32_t first, int32_t second, int32_t both) const;
  Symbols joined_as_text(const Symbols& word, int32_t first, int32_t second);
  void forget_neighbours(uint32_t word, int32_t first, int32_t second);
  void count_neighbours(uint32_t word, int32_t both);

  std::vector<std::string> names_;
  std::unordered_map<std::string, int32_t> ids_;
  std::vector<int64_t> uses_;  // of a symbol, in all different words
  int64_t symbols_in_use_ = 0;
  std::vector<Word> words_;
  PairStatistics pairs_{names_};
};

Learner::Learner(const WordCounts& counts) {
  words_.reserve(counts.size());
  for (const auto& [text, count] : counts) {
    Word word{{}, count, has_blank(text)};
    for (size_t position = 0; position < text.size();) {
      const size_t size = code_point_size(text, position);
      const bool last = position + size == text.size();
      word.symbols.push_back(intern(text.substr(position, size) + (last ? "</w>" : "")));
      position += size;
    }
    for (const int32_t symbol : word.symbols) use(symbol, 1);
    words_.push_back(std::move(word));
  }
  for (uint32_t k = 0; k < words_.size(); ++k) {
    const Symbols& symbols = words_[k].symbols;
    for (size_t i = 0; i + 1 < symbols.size(); ++i)
      pairs_.add(symbols[i], symbols[i + 1], k, 1, words_[k].count);
  }
  pairs_.start();
}

int32_t Learner::intern(const std::string& name) {
  const auto [found, is_new] = ids_.try_emplace(name, static_cast<int32_t>(names_.size()));
  if (is_new) {
    names_.push_back(name);
    uses_.push_back(0);
  }
  return found->second;
}

void Learner::use(int32_t symbol, int64_t times) {
  const bool before = uses_[symbol] > 0;
  uses_[symbol] += times;
  symbols_in_use_ += static_cast<int64_t>(uses_[symbol] > 0) - static_cast<int64_t>(before);
}

BpeCodes Learner::run(const BpeLearnerOptions& options) {
  BpeCodes codes;
  // With after_merge, `merges` is only an upper bound.
  Progress progress("learning merges", options.after_merge ? 0 : options.merges);
  for (int64_t step = 0; step < options.merges; ++step) {
    const int32_t best = pairs_.best(step);
    if (best < 0 || pairs_[best].count < options.min_frequency) break;
    codes.merges.emplace_back(names_[pairs_[best].first], names_[pairs_[best].second]);
    merge(best);
    pairs_.finish_merge(best, step);
    progress.advance();
    if (options.after_merge && !options.after_merge(symbols_in_use_)) break;
  }
  return codes;
}

void Learner::merge(int32_t pair) {
  const int32_t first = pairs_[pair].first, second = pairs_[pair].second;
  const int32_t both = intern(names_[first] + names_[second]);
  for (const uint32_t k : pairs_.take_words(pair)) {
    Symbols after = words_[k].has_blank ? joined_as_text(words_[k].symbols, first, second)
                                        : joined(words_[k].symbols, first, second, both);
    forget_neighbours(k, first, second);
    for (const int32_t symbol : words_[k].symbols) use(symbol, -1);
    for (const int32_t symbol : after) use(symbol, 1);
    words_[k].symbols = std::move(after);
    count_neighbours(k, both);
  }
}

Symbols Learner::joined(const Symbols& word, int32_t first, int32_t second, int32_t both) const {
  Symbols result;
  for (size_t i = 0; i < word.size(); ++i) {
    const bool here = word[i] == first && i + 1 < word.size() && word[i + 1] == second;
    result.push_back(here ? both : word[i]);
    if (here) ++i;
  }
  return result;
}

// subword-nmt joins the symbols of a word with spaces and finds pairs in this text, between any
// white space. If a symbol itself contains white space (a no-break space, a tab), it therefore also
// joins symbols that only end or begin like the pair. Real text has such words; doing the same
// gives the same merges.
Symbols Learner::joined_as_text(const Symbols& word, int32_t first, int32_t second) {
  std::string text;
  for (const int32_t symbol : word) (text += text.empty() ? "" : " ") += names_[symbol];
  const std::string pair = names_[first] + " " + names_[second],
                    both = names_[first] + names_[second];
  std::string result;
  size_t done = 0;
  for (size_t at = text.find(pair); at != std::string::npos; at = text.find(pair, at)) {
    const size_t end = at + pair.size();
    const bool begins = at == 0 || has_blank(code_point_before(text, at));
    const bool ends = end == text.size() ||
                      has_blank(std::string_view(text).substr(end, code_point_size(text, end)));
    if (!begins || !ends) {
      ++at;
      continue;
    }
    result.append(text, done, at - done) += both;
    done = at = end;
  }
  result.append(text, done);
  Symbols symbols;
  for (size_t begin = 0; begin < result.size();) {
    const size_t end = std::min(result.find(' ', begin), result.size());
    symbols.push_back(intern(result.substr(begin, end - begin)));
    begin = end + 1;
  }
  return symbols;
}

// Removes the pairs around each place where `first second` is about to become one symbol. The pair
// between two neighbouring places is removed once.
void Learner::forget_neighbours(uint32_t number, int32_t first, int32_t second) {
  const Symbols& symbols = words_[number].symbols;
  const int64_t count = words_[number].count;
  const auto is_pair = [&](size_t i) {
    return i + 1 < symbols.size() && symbols[i] == first && symbols[i + 1] == second;
  };
  for (size_t i = 0; i + 1 < symbols.size(); ++i) {
    if (!is_pair(i)) continue;
    if (i > 0) pairs_.add(symbols[i - 1], first, number, -1, count);
    if (i + 2 < symbols.size() && !is_pair(i + 2))
      pairs_.add(second, symbols[i + 2], number, -1, count);
    ++i;
  }
}

// Adds the pairs around each new symbol; the pair between two neighbouring ones is added once.
void Learner::count_neighbours(uint32_t number, int32_t both) {
  const Symbols& symbols = words_[number].symbols;
  const int64_t count = words_[number].count;
  for (size_t i = 0; i < symbols.size(); ++i) {
    if (symbols[i] != both) continue;
    if (i > 0) pairs_.add(symbols[i - 1], both, number, 1, count);
    if (i + 1 < symbols.size() && symbols[i + 1] != both)
      pairs_.add(both, symbols[i + 1], number, 1, count);
  }
}

}  // namespace

void count_words(std::string_view line, WordCounts& counts) {
  const size_t begin = line.find_first_not_of("\r\n ");
  if (begin == std::string_view::npos) return;
  line = line.substr(begin, line.find_last_not_of("\r\n ") - begin + 1);
  for (size_t position = 0; position < line.size();) {
    const size_t end = std::min(line.find(' ', position), line.size());
    if (end > position) ++counts[std::string(line.substr(position, end - position))];
    position = end + 1;
  }
}

BpeCodes learn_bpe(const WordCounts& words, const BpeLearnerOptions& options) {
  require_option(options.merges >= 0, "the number of merges must not be negative, got {}",
                 options.merges);
  require_option(options.min_frequency >= 1, "the minimum frequency must be at least 1, got {}",
                 options.min_frequency);
  return Learner(words).run(options);
}

}  // namespace tessera::text
