#include "seq2seq/candidate.h"

#include "text_metric/expected_bleu.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

namespace tessera::seq2seq {
namespace {

// How many points of expected BLEU a nat of mean log-probability is worth. Chosen on validation
// lines; 10 to 40 are about as good.
constexpr double kPointsOfANat = 20;

double blended(double expected_bleu, double confidence) {
  return expected_bleu + kPointsOfANat * confidence;
}

// How well each agrees with the others: expected sentence BLEU.
std::vector<double> agreement(const std::vector<const Candidate*>& candidates) {
  std::vector<std::span<const text::Id>> ids;
  for (const Candidate* candidate : candidates) ids.emplace_back(candidate->ids);
  return text_metric::expected_bleu(ids);
}

}  // namespace

Candidate cut_candidate(std::span<const text::Id> symbols,
                        std::span<const float> log_probabilities) {
  const auto end = std::find(symbols.begin(), symbols.end(), text::Dictionary::kEos);
  const size_t scored = end - symbols.begin() + (end == symbols.end() ? 0 : 1);
  Candidate candidate;
  candidate.ids.assign(symbols.begin(), end);
  candidate.length = static_cast<int64_t>(symbols.size());
  if (scored > 0)
    candidate.confidence =
        std::accumulate(log_probabilities.begin(), log_probabilities.begin() + scored, 0.0) /
        static_cast<double>(scored);
  return candidate;
}

void merge_repeats(Candidate& candidate) {
  auto& ids = candidate.ids;
  ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
}

void measure_agreement(std::span<Candidate> candidates) {
  std::vector<const Candidate*> all;
  for (const Candidate& candidate : candidates) all.push_back(&candidate);
  const std::vector<double> scores = agreement(all);
  for (size_t k = 0; k < scores.size(); ++k) candidates[k].expected_bleu = scores[k];
}

void measure_stages(std::span<Candidate> candidates) {
  std::map<int64_t, std::vector<const Candidate*>> by_length;
  for (Candidate& candidate : candidates) {
    candidate.staged_score.reset();
    by_length[candidate.length].push_back(&candidate);
  }
  std::vector<const Candidate*> best;
  for (const auto& [length, some] : by_length) {
    const std::vector<double> scores = agreement(some);
    size_t place = 0;
    for (size_t k = 1; k < some.size(); ++k)
      if (std::pair(scores[k], some[k]->confidence) >
          std::pair(scores[place], some[place]->confidence))
        place = k;
    best.push_back(some[place]);
  }
  const std::vector<double> scores = agreement(best);
  for (size_t k = 0; k < best.size(); ++k)
    candidates[static_cast<size_t>(best[k] - candidates.data())].staged_score =
        blended(scores[k], best[k]->confidence);
}

double score_of(const Candidate& candidate, Selection selection) {
  switch (selection) {
    case Selection::mbr:
      return candidate.expected_bleu;
    case Selection::confidence:
      return candidate.confidence;
    case Selection::blend:
      return blended(candidate.expected_bleu, candidate.confidence);
    case Selection::staged:
      return candidate.staged_score.value_or(-std::numeric_limits<double>::infinity());
    case Selection::rerank:
      return candidate.rerank_score.value_or(-std::numeric_limits<double>::infinity());
  }
  return 0;
}

size_t choose(std::span<const Candidate> candidates, Selection selection) {
  const Selection other = selection == Selection::mbr || selection == Selection::rerank
                              ? Selection::confidence
                              : Selection::mbr;
  const auto scores = [&](const Candidate& candidate) {
    return std::pair(score_of(candidate, selection), score_of(candidate, other));
  };
  size_t best = 0;
  for (size_t k = 1; k < candidates.size(); ++k)
    if (scores(candidates[k]) > scores(candidates[best])) best = k;
  return best;
}

}  // namespace tessera::seq2seq
