#pragma once

#include "text_metric/tokenization.h"

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::text_metric {

constexpr size_t kBleuOrder = 4;

// What an n-gram precision becomes if nothing matches, so that one zero does not make the whole
// score zero (Chen and Cherry, "A systematic comparison of smoothing techniques", 2014).
enum class Smoothing {
  none,
  floor,  // value / total
  add_k,  // (matches + value) / (total + value) for n > 1
  exp,    // 1/2, 1/4, ... of a match, as mteval-v13a does
};

}  // namespace tessera::text_metric

template <>
struct tessera::EnumNames<tessera::text_metric::Smoothing> {
  using Smoothing = tessera::text_metric::Smoothing;
  static constexpr std::string_view what = "smoothing";
  static constexpr std::array<std::pair<Smoothing, std::string_view>, 4> values{
      {{Smoothing::none, "none"},
       {Smoothing::floor, "floor"},
       {Smoothing::add_k, "add-k"},
       {Smoothing::exp, "exp"}}};
};

namespace tessera::text_metric {

// The defaults are sacreBLEU's.
struct BleuOptions {
  Tokenization tokenization = Tokenization::mteval_13a;
  bool lowercase = false;
  Smoothing smoothing = Smoothing::exp;
  std::optional<double> smoothing_value = std::nullopt;  // 0.1 for floor, 1 for add-k if not given
  bool effective_order = false;  // only orders of which the hypothesis has n-grams, for sentences
};

// The counts that a score is computed from. Those of a corpus are the sums over its lines.
struct BleuStatistics {
  std::array<int64_t, kBleuOrder> matches{};  // n-grams found in a reference, clipped
  std::array<int64_t, kBleuOrder> totals{};   // n-grams of the hypothesis
  int64_t hyp_len = 0;                        // words
  int64_t ref_len = 0;                        // words of the reference closest in length

  BleuStatistics& operator+=(const BleuStatistics& other);
  bool operator==(const BleuStatistics&) const = default;
};

struct BleuScore {
  double score = 0;                             // 0 to 100
  std::array<double, kBleuOrder> precisions{};  // of n-grams, smoothed, in percent
  std::array<double, kBleuOrder> cumulative{};  // BLEU-1 to BLEU-4; the last is the score
  double brevity_penalty = 1;
  double ratio = 0;  // hyp_len / ref_len
  BleuStatistics statistics;
};

BleuScore bleu_of(const BleuStatistics& statistics, const BleuOptions& options = {});

// One line against its references; at least one.
BleuStatistics bleu_statistics(std::string_view hypothesis,
                               std::span<const std::string_view> references,
                               const BleuOptions& options = {});

// Every line of a system's output.
//   references  one document each, every one with as many lines as there are hypotheses
std::vector<BleuStatistics> bleu_statistics(std::span<const std::string> hypotheses,
                                            std::span<const std::vector<std::string>> references,
                                            const BleuOptions& options = {});

BleuScore corpus_bleu(std::span<const std::string> hypotheses,
                      std::span<const std::vector<std::string>> references,
                      const BleuOptions& options = {});

// As sacrebleu.sentence_bleu: with effective order, whatever the options say.
BleuScore sentence_bleu(std::string_view hypothesis, std::span<const std::string_view> references,
                        BleuOptions options = {});

// What must be known to repeat a score, in sacreBLEU's form:
//   nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:tessera-0.1.0
std::string bleu_signature(const BleuOptions& options, size_t references = 1);

// "BLEU|SIGNATURE = 32.90 65.1/40.2/26.0/17.0 (BP = 0.980 ratio = 0.980 hyp_len = 1000 ref_len =
// 1020)", on one line.
std::string bleu_line(const BleuScore& score, const std::string& signature);

}  // namespace tessera::text_metric
