#include "text_metric/bleu.h"

#include "text_metric/detokenization.h"

#include "base/require.h"
#include "text_metric/ngrams.h"
#include "text_metric/parallel_lines.h"

#include <tessera/version.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <unordered_map>

namespace tessera::text_metric {
namespace {

// The logarithm of a precision; for zero, sacreBLEU's stand-in.
double floored_log(double precision) {
  return precision == 0 ? -9999999999.0 : std::log(precision);
}

double smoothing_value(const BleuOptions& options) {
  return options.smoothing_value.value_or(options.smoothing == Smoothing::floor ? 0.1 : 1.0);
}

double brevity_penalty(const BleuStatistics& counts) {
  if (counts.hyp_len >= counts.ref_len) return 1;
  if (counts.hyp_len == 0) return 0;
  return std::exp(1 - static_cast<double>(counts.ref_len) / static_cast<double>(counts.hyp_len));
}

// Fills in the precisions and returns how many orders count.
size_t smoothed_precisions(const BleuStatistics& counts, const BleuOptions& options,
                           std::array<double, kBleuOrder>& precisions) {
  const double value = smoothing_value(options);
  double halving = 1;
  size_t order = options.effective_order ? 0 : kBleuOrder;
  for (size_t n = 0; n < kBleuOrder; ++n) {
    const double added = options.smoothing == Smoothing::add_k && n > 0 ? value : 0;
    const double matches = static_cast<double>(counts.matches[n]) + added;
    const double total = static_cast<double>(counts.totals[n]) + added;
    if (total == 0) break;
    if (options.effective_order) order = n + 1;
    if (matches > 0) {
      precisions[n] = 100 * matches / total;
    } else if (options.smoothing == Smoothing::exp) {
      halving *= 2;
      precisions[n] = 100 / (halving * total);
    } else if (options.smoothing == Smoothing::floor) {
      precisions[n] = 100 * value / total;
    }
  }
  return order;
}

std::vector<std::string_view> words_of(std::string_view line, const BleuOptions& options,
                                       std::string& storage) {
  std::string_view text = line;
  if (options.lowercase) text = storage = lowercase(text);
  if (options.tokenization == Tokenization::mteval_13a) text = storage = separate_13a(text);
  if (options.tokenization == Tokenization::moses_13a)
    text = storage = separate_13a(join_moses(text));
  return split_words(text);
}

// If two references are equally close in length to the hypothesis, the shorter one counts.
int64_t closest_length(int64_t length, std::span<const std::span<const int32_t>> references) {
  int64_t closest = -1, distance = std::numeric_limits<int64_t>::max();
  for (const auto& reference : references) {
    const auto candidate = static_cast<int64_t>(reference.size());
    const int64_t difference = std::abs(candidate - length);
    if (difference < distance || (difference == distance && candidate < closest)) {
      closest = candidate;
      distance = difference;
    }
  }
  return closest;
}

// The number of n-grams of text 0 found in the other texts, each counted at most as often as in the
// text that has it most often.
int64_t clipped_matches(const NgramNumbering& ngrams) {
  std::vector<int64_t> allowed(ngrams.count()), seen(ngrams.count());
  for (size_t text = 1; text < ngrams.texts(); ++text) {
    std::fill(seen.begin(), seen.end(), 0);
    for (const uint32_t ngram : ngrams.of(text))
      allowed[ngram] = std::max(allowed[ngram], ++seen[ngram]);
  }
  int64_t matches = 0;
  for (const uint32_t ngram : ngrams.of(0)) matches += allowed[ngram]-- > 0;
  return matches;
}

}  // namespace

BleuStatistics& BleuStatistics::operator+=(const BleuStatistics& other) {
  for (size_t n = 0; n < kBleuOrder; ++n) {
    matches[n] += other.matches[n];
    totals[n] += other.totals[n];
  }
  hyp_len += other.hyp_len;
  ref_len += other.ref_len;
  return *this;
}

BleuScore bleu_of(const BleuStatistics& statistics, const BleuOptions& options) {
  BleuScore result;
  result.statistics = statistics;
  result.brevity_penalty = brevity_penalty(statistics);
  if (statistics.ref_len > 0)
    result.ratio =
        static_cast<double>(statistics.hyp_len) / static_cast<double>(statistics.ref_len);
  if (std::all_of(statistics.matches.begin(), statistics.matches.end(),
                  [](int64_t matches) { return matches == 0; }))
    return result;

  const size_t order = smoothed_precisions(statistics, options, result.precisions);
  double logs = 0;
  for (size_t n = 0; n < kBleuOrder; ++n) {
    if (n < order) logs += floored_log(result.precisions[n]);
    result.cumulative[n] =
        result.brevity_penalty * std::exp(logs / static_cast<double>(std::min(n + 1, order)));
  }
  result.score = result.cumulative.back();
  return result;
}

BleuStatistics bleu_statistics(std::string_view hypothesis,
                               std::span<const std::string_view> references,
                               const BleuOptions& options) {
  require(!references.empty(), "BLEU needs at least one reference");
  std::vector<std::string> storage(references.size() + 1);
  std::vector<std::vector<int32_t>> ids(references.size() + 1);
  std::unordered_map<std::string_view, int32_t> numbers;
  for (size_t i = 0; i < ids.size(); ++i)
    for (const auto word : words_of(i == 0 ? hypothesis : references[i - 1], options, storage[i]))
      ids[i].push_back(
          numbers.try_emplace(word, static_cast<int32_t>(numbers.size())).first->second);

  const std::vector<std::span<const int32_t>> texts(ids.begin(), ids.end());
  BleuStatistics result;
  result.hyp_len = static_cast<int64_t>(texts[0].size());
  result.ref_len = closest_length(result.hyp_len, std::span(texts).subspan(1));
  NgramNumbering ngrams(texts);
  for (size_t n = 0; n < kBleuOrder; ++n) {
    if (n > 0) ngrams.extend();
    result.totals[n] = static_cast<int64_t>(ngrams.of(0).size());
    result.matches[n] = clipped_matches(ngrams);
  }
  return result;
}

std::vector<BleuStatistics> bleu_statistics(std::span<const std::string> hypotheses,
                                            std::span<const std::vector<std::string>> references,
                                            const BleuOptions& options) {
  std::vector<BleuStatistics> result;
  result.reserve(hypotheses.size());
  for_each_line(hypotheses, references, [&](std::string_view line, const auto& line_references) {
    result.push_back(bleu_statistics(line, line_references, options));
  });
  return result;
}

BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::vector<std::string>> references,
                      const BleuOptions& options) {
  BleuStatistics sum;
  for (const auto& line : bleu_statistics(hypotheses, references, options)) sum += line;
  return bleu_of(sum, options);
}

BleuScore sentence_bleu(std::string_view hypothesis, std::span<const std::string_view> references,
                        BleuOptions options) {
  options.effective_order = true;
  return bleu_of(bleu_statistics(hypothesis, references, options), options);
}

std::string bleu_signature(const BleuOptions& options, size_t references) {
  std::string smoothing(name_of(options.smoothing));
  if (options.smoothing == Smoothing::floor || options.smoothing == Smoothing::add_k)
    smoothing += fmt::format("[{:.2f}]", smoothing_value(options));
  return fmt::format("nrefs:{}|case:{}|eff:{}|tok:{}|smooth:{}|version:tessera-{}", references,
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     name_of(options.tokenization), smoothing, version());
}

std::string bleu_line(const BleuScore& score, const std::string& signature) {
  const auto& [p1, p2, p3, p4] = score.precisions;
  return fmt::format(
      "BLEU|{} = {:.2f} {:.1f}/{:.1f}/{:.1f}/{:.1f} (BP = {:.3f} ratio = {:.3f} hyp_len = {} "
      "ref_len = {})",
      signature, score.score, p1, p2, p3, p4, score.brevity_penalty, score.ratio,
      score.statistics.hyp_len, score.statistics.ref_len);
}

}  // namespace tessera::text_metric
