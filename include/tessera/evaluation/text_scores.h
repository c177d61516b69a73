#pragma once

#include <tessera/base/api.h>
#include <tessera/text_metric/paired_bootstrap.h>

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <variant>
#include <vector>

namespace tessera {

// How texts are scored against references.
struct TextScoreOptions {
  std::vector<std::string> metrics = {"bleu"};  // bleu, chrf, chrf++, rouge (ROUGE-1, 2 and L)
  // For BLEU: 13a for plain text, none for text with blanks between all words, moses-13a for text
  // tokenised by Moses' scripts, which is joined first. Not set: 13a; if a model is measured, what
  // fits the text it was trained on.
  std::optional<std::string> tokenization = {};
  std::string smoothing = "exp";  // for BLEU: exp, floor, add-k or none
  bool lowercase = false;         // ROUGE always ignores case
  // Another system's texts: is the difference more than chance? (paired bootstrap) Empty: none.
  std::vector<std::string> compare_with = {};
  int samples = 1000;  // of the bootstrap
  uint64_t seed = 1;   // of the bootstrap
};

// What a BLEU score is made of. Arrays are by the length of n-grams, from 1 to 4.
struct BleuParts {
  std::array<double, 4> precisions{};  // smoothed, in percent
  std::array<double, 4> cumulative{};  // BLEU-1 to BLEU-4; the last is the score
  double brevity_penalty = 1;
  double ratio = 0;                  // hyp_len / ref_len
  int64_t hyp_len = 0, ref_len = 0;  // words
  std::array<int64_t, 4> matches{};  // n-grams that also occur in a reference
  std::array<int64_t, 4> totals{};   // n-grams
};

struct ChrfParts {
  int char_order = 0, word_order = 0;  // longest n-grams
  int beta = 0;                        // how many times recall weighs as much as precision
};

struct RougeParts {
  double precision = 0, recall = 0, f1 = 0;  // 0 to 100
};

struct ScoreComparison {
  std::string signature;   // of the score, with samples and seed
  PairedBootstrap result;  // the baseline is the other system
};

// One score of all texts.
struct TextScore {
  std::string name;       // "BLEU", "chrF2", "ROUGE-L", ...
  double score = 0;       // 0 to 100
  std::string signature;  // what must be known to repeat it, in sacreBLEU's form
  std::string line;       // name, signature and score, for people
  std::variant<BleuParts, ChrfParts, RougeParts> parts = {};
  std::vector<double> sentences = {};  // the score of every text
  std::string sentence_signature = {};
  std::optional<ScoreComparison> comparison = {};  // if there is something to compare with
};

// The scores of the metrics, in their order.
//   references  one document each, with as many lines as there are texts
// Throws UsageError for unknown names, Error if the numbers of lines differ.
TESSERA_API std::vector<TextScore> score_texts(std::span<const std::string> texts,
                                               std::span<const std::vector<std::string>> references,
                                               const TextScoreOptions& options = {});

}  // namespace tessera
