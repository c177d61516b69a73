#include "text_metric/chrf.h"

#include "base/require.h"
#include "text_metric/ngrams.h"
#include "text_metric/parallel_lines.h"
#include "text_metric/tokenization.h"

#include <tessera/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

namespace tessera::text_metric {
namespace {

using Ids = std::vector<int32_t>;

bool is_punctuation(char c) {
  return (c >= '!' && c <= '/') || (c >= ':' && c <= '@') || (c >= '[' && c <= '`') ||
         (c >= '{' && c <= '~');
}

// Words with one punctuation mark split off: the last character, otherwise the first.
std::vector<std::string_view> words_of(std::string_view line) {
  std::vector<std::string_view> words;
  for (const auto word : split_words(line)) {
    if (word.size() > 1 && is_punctuation(word.back())) {
      words.push_back(word.substr(0, word.size() - 1));
      words.push_back(word.substr(word.size() - 1));
    } else if (word.size() > 1 && is_punctuation(word.front())) {
      words.push_back(word.substr(0, 1));
      words.push_back(word.substr(1));
    } else {
      words.push_back(word);
    }
  }
  return words;
}

// Adds the counts of orders 1 to `order` against every reference (text 1 and on) to its statistics.
void count(const std::vector<Ids>& ids, int order, std::vector<ChrfStatistics>& statistics) {
  const std::vector<std::span<const int32_t>> texts(ids.begin(), ids.end());
  NgramNumbering ngrams(texts);
  for (int n = 1; n <= order; ++n) {
    if (n > 1) ngrams.extend();
    std::vector<int64_t> left(ngrams.count());
    for (size_t k = 0; k < statistics.size(); ++k) {
      const auto reference = ngrams.of(k + 1);
      std::fill(left.begin(), left.end(), 0);
      for (const uint32_t ngram : reference) ++left[ngram];
      ChrfStatistics::Counts counts;
      for (const uint32_t ngram : ngrams.of(0)) counts.matches += left[ngram]-- > 0;
      counts.reference = static_cast<int64_t>(reference.size());
      // sacreBLEU leaves out orders that a reference is too short for.
      if (!reference.empty()) counts.hypothesis = static_cast<int64_t>(ngrams.of(0).size());
      statistics[k].orders.push_back(counts);
    }
  }
}

}  // namespace

ChrfStatistics& ChrfStatistics::operator+=(const ChrfStatistics& other) {
  orders.resize(std::max(orders.size(), other.orders.size()));
  for (size_t i = 0; i < other.orders.size(); ++i) {
    orders[i].hypothesis += other.orders[i].hypothesis;
    orders[i].reference += other.orders[i].reference;
    orders[i].matches += other.orders[i].matches;
  }
  return *this;
}

double chrf_of(const ChrfStatistics& statistics, const ChrfOptions& options) {
  double precision = 0, recall = 0;
  int orders = 0;
  for (const auto& counts : statistics.orders) {
    if (counts.hypothesis == 0 || counts.reference == 0) continue;
    const auto matches = static_cast<double>(counts.matches);
    precision += matches / static_cast<double>(counts.hypothesis);
    recall += matches / static_cast<double>(counts.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  const double weight = static_cast<double>(options.beta) * options.beta;
  return 100 * (1 + weight) * precision * recall / (weight * precision + recall);
}

ChrfStatistics chrf_statistics(std::string_view hypothesis,
                               std::span<const std::string_view> references,
                               const ChrfOptions& options) {
  require(!references.empty(), "chrF needs at least one reference");
  std::vector<Ids> characters, words;
  std::unordered_map<std::string, int32_t> numbers;
  for (size_t i = 0; i <= references.size(); ++i) {
    const std::string_view line = i == 0 ? hypothesis : references[i - 1];
    const std::string text = options.lowercase ? lowercase(line) : std::string(line);
    const auto visible = visible_characters(text);
    characters.emplace_back(visible.begin(), visible.end());
    if (options.word_order == 0) continue;
    words.emplace_back();
    for (const auto word : words_of(text))
      words.back().push_back(
          numbers.try_emplace(std::string(word), static_cast<int32_t>(numbers.size()))
              .first->second);
  }

  std::vector<ChrfStatistics> all(references.size());
  count(characters, options.char_order, all);
  if (options.word_order > 0) count(words, options.word_order, all);
  return *std::max_element(all.begin(), all.end(),
                           [&](const ChrfStatistics& a, const ChrfStatistics& b) {
                             return chrf_of(a, options) < chrf_of(b, options);
                           });
}

std::vector<ChrfStatistics> chrf_statistics(std::span<const std::string> hypotheses,
                                            std::span<const std::vector<std::string>> references,
                                            const ChrfOptions& options) {
  std::vector<ChrfStatistics> result;
  result.reserve(hypotheses.size());
  for_each_line(hypotheses, references, [&](std::string_view line, const auto& line_references) {
    result.push_back(chrf_statistics(line, line_references, options));
  });
  return result;
}

double corpus_chrf(std::span<const std::string> hypotheses,
                   std::span<const std::vector<std::string>> references,
                   const ChrfOptions& options) {
  ChrfStatistics sum;
  for (const auto& line : chrf_statistics(hypotheses, references, options)) sum += line;
  return chrf_of(sum, options);
}

double sentence_chrf(std::string_view hypothesis, std::span<const std::string_view> references,
                     const ChrfOptions& options) {
  return chrf_of(chrf_statistics(hypothesis, references, options), options);
}

std::string chrf_name(const ChrfOptions& options) {
  return fmt::format("chrF{}{}", options.beta,
                     std::string(static_cast<size_t>(options.word_order), '+'));
}

std::string chrf_signature(const ChrfOptions& options, size_t references) {
  return fmt::format("nrefs:{}|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:tessera-{}", references,
                     options.lowercase ? "lc" : "mixed", options.char_order, options.word_order,
                     version());
}

std::string chrf_line(double score, const ChrfOptions& options, const std::string& signature) {
  return fmt::format("{}|{} = {:.2f}", chrf_name(options), signature, score);
}

}  // namespace tessera::text_metric
