#pragma once

#include "base/config.h"

#include <tessera/base/enum_names.h>
#include <tessera/process/sampler.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::model {

// Which of the candidates of a sentence is the answer.
enum class Selection {
  mbr,         // the one the others agree with most: expected sentence BLEU
  confidence,  // the one with the highest mean log-probability
  rerank,      // the one an autoregressive model finds likeliest: not an option of a model
};

// A length that is asked for, where it is not left to the length head. It counts symbols without
// the end.
struct LengthRule {
  bool relative = false;  // to the length that is predicted
  int64_t value = 0;

  bool operator==(const LengthRule&) const = default;

  // "12": exactly 12 symbols; "+2", "-1": so many more or fewer than predicted. Throws UsageError.
  static LengthRule parse(const std::string& text);
};

// How sentences are made.
struct GenerationOptions {
  // By diffusion: a sentence has lengths * noises candidates.
  SamplerOptions sampler = {};
  int64_t lengths = 1;         // the likeliest lengths
  int64_t noises = 5;          // start noises of every length
  bool merge_repeats = false;  // of a symbol that stands twice in a row, keep one
  // From left to right: a sentence has `beam` candidates.
  int64_t beam = 5;           // hypotheses that are followed; 1: greedy
  double length_penalty = 1;  // scores are log-probabilities over length to this power
  double temperature = 0;     // above 0: `beam` sentences are drawn instead
  int64_t top_k = 0;          // of the likeliest symbols; 0: of all
  // Of both.
  Selection selection = Selection::mbr;   // among candidates that were drawn
  int64_t batch_tokens = 48000;           // candidates x padded length of a batch, at most
  std::optional<LengthRule> length = {};  // no key in the configuration: it suits one input

  int64_t candidates() const { return lengths * noises; }
};

// Most candidates of a sentence.
constexpr int64_t kMaxCandidates = 4096;
// Past these, scores overflow.
constexpr double kMaxLengthPenalty = 10, kMaxTemperature = 1000, kMinTemperature = 1e-3;
constexpr bool is_temperature(double value) {
  return value == 0 || (value >= kMinTemperature && value <= kMaxTemperature);
}

// Keys "generate.*" and "sampler.*".
void declare(config::Schema& schema, GenerationOptions& options);

}  // namespace tessera::model

template <>
struct tessera::EnumNames<tessera::model::Selection> {
  using Selection = tessera::model::Selection;
  static constexpr std::string_view what = "selection";
  static constexpr std::array<std::pair<Selection, std::string_view>, 3> values{
      {{Selection::mbr, "mbr"},
       {Selection::confidence, "confidence"},
       {Selection::rerank, "rerank"}}};
};
