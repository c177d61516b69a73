#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::text_metric {

// ROUGE-1, ROUGE-2 and ROUGE-L (Lin, 2004) as Google's rouge_score package computes them: words are
// runs of a-z and 0-9 after lower-casing, without stemming; a corpus scores the mean of its lines.
// (A line is one sentence, so ROUGE-Lsum is ROUGE-L.)
enum RougeKind : size_t { kRouge1, kRouge2, kRougeL, kRougeKinds };

constexpr std::array<std::string_view, kRougeKinds> kRougeNames{"ROUGE-1", "ROUGE-2", "ROUGE-L"};

struct RougeMeasure {
  double precision = 0, recall = 0, f1 = 0;  // 0 to 100
};

using RougeScore = std::array<RougeMeasure, kRougeKinds>;

// Those of a corpus are the sums over its lines.
struct RougeStatistics {
  RougeScore sums;
  int64_t lines = 0;

  RougeStatistics& operator+=(const RougeStatistics& other);
};

RougeScore rouge_of(const RougeStatistics& statistics);  // the means

// One line against its references; the one with the best F1 counts, separately for each kind.
RougeScore sentence_rouge(std::string_view hypothesis,
                          std::span<const std::string_view> references);

//   references  one document each, every one with as many lines as there are hypotheses
std::vector<RougeStatistics> rouge_statistics(std::span<const std::string> hypotheses,
                                              std::span<const std::vector<std::string>> references);

RougeScore corpus_rouge(std::span<const std::string> hypotheses,
                        std::span<const std::vector<std::string>> references);

// "nrefs:1|case:lc|tok:a-z0-9|stem:no|mean:lines|version:tessera-0.1.0"
std::string rouge_signature(size_t references = 1);

// "ROUGE-L|SIGNATURE = 75.81 (P = 81.25 R = 72.52)"
std::string rouge_line(RougeKind kind, const RougeMeasure& measure, const std::string& signature);

}  // namespace tessera::text_metric
