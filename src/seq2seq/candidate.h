#pragma once

#include "seq2seq/generation_options.h"
#include "text/dictionary.h"

#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tessera::seq2seq {

// One attempt at a sentence.
struct Candidate {
  std::vector<text::Id> ids;  // up to the first end symbol, without it
  int64_t length = 0;         // symbols it was given room for, end symbol included
  double confidence = 0;      // mean log-probability of its symbols, first end symbol included
  double expected_bleu = 0;   // mean sentence BLEU against the other candidates, 0 to 100
  std::optional<double> rerank_score = {};  // mean log-probability another model gives it
  // Of the best of its length, where a choice is made in stages: as `blend`, but among the best of
  // all lengths. Others have none.
  std::optional<double> staged_score = {};
  double length_log_probability = 0;  // of `length`, as the length head sees it; 0: not asked
};

// The candidate in a row of symbols as they were decoded.
//   symbols           of which those before the first end symbol count
//   log_probabilities of every symbol
Candidate cut_candidate(std::span<const text::Id> symbols,
                        std::span<const float> log_probabilities);

// Of equal symbols in a row keeps one.
void merge_repeats(Candidate& candidate);

// Fills in expected_bleu.
void measure_agreement(std::span<Candidate> candidates);

// Fills in staged_score. Of one length the best is the one the others of it agree with most, by
// expected sentence BLEU; confidence, then the order decides between equals.
void measure_stages(std::span<Candidate> candidates);

// The score a selection goes by; -infinity for what it leaves out.
double score_of(const Candidate& candidate, Selection selection);

// The place of the best candidate; another score, then the order decides between equals.
size_t choose(std::span<const Candidate> candidates, Selection selection);

}  // namespace tessera::seq2seq
