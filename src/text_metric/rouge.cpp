#include "text_metric/rouge.h"

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

bool is_word_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

// The words of a line as numbers, equal for equal words.
class WordNumbers {
 public:
  Ids of(std::string_view line) {
    Ids ids;
    const std::string text = lowercase(line);
    for (size_t begin = 0; begin < text.size();) {
      size_t end = begin;
      while (end < text.size() && is_word_character(text[end])) ++end;
      if (end > begin)
        ids.push_back(
            numbers_
                .try_emplace(text.substr(begin, end - begin), static_cast<int32_t>(numbers_.size()))
                .first->second);
      begin = end + 1;
    }
    return ids;
  }

 private:
  std::unordered_map<std::string, int32_t> numbers_;
};

// In fractions of 1.
RougeMeasure measure(int64_t common, size_t hypothesis, size_t reference) {
  RougeMeasure result;
  const auto shared = static_cast<double>(common);
  result.precision = shared / static_cast<double>(std::max<size_t>(hypothesis, 1));
  result.recall = shared / static_cast<double>(std::max<size_t>(reference, 1));
  const double sum = result.precision + result.recall;
  result.f1 = sum > 0 ? 2 * result.precision * result.recall / sum : 0;
  return result;
}

// The number of n-grams of text 0 found in text 1, each counted at most as often as there.
int64_t common_ngrams(const NgramNumbering& ngrams) {
  std::vector<int64_t> left(ngrams.count());
  for (const uint32_t ngram : ngrams.of(1)) ++left[ngram];
  int64_t common = 0;
  for (const uint32_t ngram : ngrams.of(0)) common += left[ngram]-- > 0;
  return common;
}

int64_t longest_common_subsequence(const Ids& a, const Ids& b) {
  std::vector<int64_t> row(b.size() + 1);  // for a prefix of a and every prefix of b
  for (const int32_t symbol : a) {
    int64_t diagonal = 0;
    for (size_t j = 1; j <= b.size(); ++j) {
      const int64_t above = row[j];
      row[j] = symbol == b[j - 1] ? diagonal + 1 : std::max(above, row[j - 1]);
      diagonal = above;
    }
  }
  return row.back();
}

RougeScore score(const Ids& hypothesis, const Ids& reference) {
  const std::array<std::span<const int32_t>, 2> texts{hypothesis, reference};
  RougeScore result;
  NgramNumbering ngrams(texts);
  result[kRouge1] = measure(common_ngrams(ngrams), hypothesis.size(), reference.size());
  ngrams.extend();
  result[kRouge2] = measure(common_ngrams(ngrams), ngrams.of(0).size(), ngrams.of(1).size());
  result[kRougeL] = measure(longest_common_subsequence(hypothesis, reference), hypothesis.size(),
                            reference.size());
  return result;
}

}  // namespace

RougeStatistics& RougeStatistics::operator+=(const RougeStatistics& other) {
  for (size_t kind = 0; kind < kRougeKinds; ++kind) {
    sums[kind].precision += other.sums[kind].precision;
    sums[kind].recall += other.sums[kind].recall;
    sums[kind].f1 += other.sums[kind].f1;
  }
  lines += other.lines;
  return *this;
}

RougeScore rouge_of(const RougeStatistics& statistics) {
  RougeScore result = statistics.sums;
  const auto lines = static_cast<double>(std::max<int64_t>(statistics.lines, 1));
  for (RougeMeasure& mean : result) {
    mean.precision /= lines;
    mean.recall /= lines;
    mean.f1 /= lines;
  }
  return result;
}

RougeScore sentence_rouge(std::string_view hypothesis,
                          std::span<const std::string_view> references) {
  require(!references.empty(), "ROUGE needs at least one reference");
  WordNumbers numbers;
  const Ids words = numbers.of(hypothesis);
  RougeScore best = score(words, numbers.of(references[0]));
  for (const auto reference : references.subspan(1)) {
    const RougeScore other = score(words, numbers.of(reference));
    for (size_t kind = 0; kind < kRougeKinds; ++kind)
      if (other[kind].f1 > best[kind].f1) best[kind] = other[kind];
  }
  // Only now, so that the rounding of percents cannot decide between equal F1.
  for (RougeMeasure& measure : best)
    measure = {100 * measure.precision, 100 * measure.recall, 100 * measure.f1};
  return best;
}

std::vector<RougeStatistics> rouge_statistics(
    std::span<const std::string> hypotheses, std::span<const std::vector<std::string>> references) {
  std::vector<RougeStatistics> result;
  result.reserve(hypotheses.size());
  for_each_line(hypotheses, references, [&](std::string_view line, const auto& line_references) {
    result.push_back({sentence_rouge(line, line_references), 1});
  });
  return result;
}

RougeScore corpus_rouge(std::span<const std::string> hypotheses,
                        std::span<const std::vector<std::string>> references) {
  RougeStatistics sum;
  for (const auto& line : rouge_statistics(hypotheses, references)) sum += line;
  return rouge_of(sum);
}

std::string rouge_signature(size_t references) {
  return fmt::format("nrefs:{}|case:lc|tok:a-z0-9|stem:no|mean:lines|version:tessera-{}",
                     references, version());
}

std::string rouge_line(RougeKind kind, const RougeMeasure& measure, const std::string& signature) {
  return fmt::format("{}|{} = {:.2f} (P = {:.2f} R = {:.2f})", kRougeNames[kind], signature,
                     measure.f1, measure.precision, measure.recall);
}

}  // namespace tessera::text_metric
