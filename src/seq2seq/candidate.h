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
  // Only for the best candidate of its length, and only if the choice is made in stages: as
  // `blend`, but among the best of all lengths.
  std::optional<double> staged_score = {};
  double length_log_probability = 0;  // of `length`, by the length head; 0: it was not asked
};

// Makes a candidate from a row of decoded symbols.
//   symbols           only those before the first end symbol count
//   log_probabilities of every symbol
Candidate cut_candidate(std::span<const text::Id> symbols,
                        std::span<const float> log_probabilities);

// Keeps one of several equal symbols in a row.
void merge_repeats(Candidate& candidate);

// Fills in expected_bleu.
void measure_agreement(std::span<Candidate> candidates);

// Fills in staged_score. The best candidate of a length is the one that the others of this length
// agree with most, by expected sentence BLEU. The confidence decides ties, then the order.
void measure_stages(std::span<Candidate> candidates);

// The score that a selection compares; -infinity for candidates that it leaves out.
double score_of(const Candidate& candidate, Selection selection);

// The index of the best candidate. Another score decides ties, then the order.
size_t choose(std::span<const Candidate> candidates, Selection selection);

}  // namespace tessera::seq2seq
