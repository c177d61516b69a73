#pragma once

#include <cstdint>
#include <span>
#include <vector>

namespace tessera::text_metric {

// For minimum-Bayes-risk choice: how well each candidate agrees with the others.
//   candidates  the symbols of each, any numbers, without end symbols or padding
//   returns     for each the mean of its sentence BLEU (0 to 100, effective order, exponential
//               smoothing, as sentence_bleu) against every other candidate as the reference
// An empty candidate and a single one score 0. Computes millions of pairs per second.
std::vector<double> expected_bleu(std::span<const std::span<const int32_t>> candidates);

}  // namespace tessera::text_metric
