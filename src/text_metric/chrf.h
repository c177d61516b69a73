#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::text_metric {

// chrF (Popović, 2015), an F-score of character n-grams without blanks; with words, chrF++. The
// defaults are sacreBLEU's.
struct ChrfOptions {
  int char_order = 6;  // n-grams of 1 to this many characters
  int word_order = 0;  // and of 1 to this many words; 2 makes chrF++
  int beta = 2;        // how many times recall weighs as much as precision
  bool lowercase = false;
};

// The counts that a score is computed from. Those of a corpus are the sums over its lines.
struct ChrfStatistics {
  struct Counts {
    int64_t hypothesis = 0, reference = 0, matches = 0;
    bool operator==(const Counts&) const = default;
  };

  std::vector<Counts> orders;  // characters first, then words; empty for no lines

  ChrfStatistics& operator+=(const ChrfStatistics& other);
  bool operator==(const ChrfStatistics&) const = default;
};

double chrf_of(const ChrfStatistics& statistics, const ChrfOptions& options = {});  // 0 to 100

// One line against its references; the one with the best score counts.
ChrfStatistics chrf_statistics(std::string_view hypothesis,
                               std::span<const std::string_view> references,
                               const ChrfOptions& options = {});

// Every line of a system's output.
//   references  one document each, every one with as many lines as there are hypotheses
std::vector<ChrfStatistics> chrf_statistics(std::span<const std::string> hypotheses,
                                            std::span<const std::vector<std::string>> references,
                                            const ChrfOptions& options = {});

double corpus_chrf(std::span<const std::string> hypotheses,
                   std::span<const std::vector<std::string>> references,
                   const ChrfOptions& options = {});
double sentence_chrf(std::string_view hypothesis, std::span<const std::string_view> references,
                     const ChrfOptions& options = {});

std::string chrf_name(const ChrfOptions& options);  // "chrF2", "chrF2++"

// "nrefs:1|case:mixed|eff:yes|nc:6|nw:0|space:no|version:tessera-0.1.0"
std::string chrf_signature(const ChrfOptions& options, size_t references = 1);

// "chrF2|SIGNATURE = 66.93"
std::string chrf_line(double score, const ChrfOptions& options, const std::string& signature);

}  // namespace tessera::text_metric
