#pragma once

#include "config/config.h"
#include "seq2seq/seq2seq_options.h"

#include <tessera/base/enum_names.h>
#include <tessera/process/sampler.h>

#include <cstdint>
#include <optional>
#include <string>

namespace tessera::seq2seq {

// Which of the candidates of a sentence is the answer.
enum class Selection {
  mbr,         // the one the others agree with most: expected sentence BLEU
  confidence,  // the one with the highest mean log-probability
  blend,       // both: expected sentence BLEU, and 20 points for every nat of mean log-probability
  staged,  // the best of every length (by the others of that length), of these the best by blend
  rerank,  // the one an autoregressive model finds likeliest: not an option of a model
};

// Which lengths are tried, if there are several.
enum class LengthChoice {
  likeliest,  // by the length head's scores
  window,     // the likeliest one and its neighbours: +1, -1, +2, -2, ...
  draw,       // each drawn by its probability, so that likely ones come several times
};

// What the random numbers of a source depend on, besides the seed and the candidate.
enum class NoiseOf {
  texts,  // nothing, or, for models of symbols, the text: it has the same noise on any line
  lines,  // its line number in the input: equal lines have different noise
};

// How much work a diffusion model spends on a sentence, in decoder passes: lengths x noises x
// steps.
enum class Preset {
  fast,      // at most 6
  balanced,  // at most 20
  best,      // at most 100
};

// The values of a preset: the best that were found on validation lines, at no higher cost
// (docs/results.md).
struct PresetValues {
  int64_t lengths, noises, steps;
  Selection selection = Selection::blend;
};
constexpr PresetValues values_of(Preset preset) {
  switch (preset) {
    case Preset::fast:
      return {3, 1, 2};
    case Preset::best:
      return {9, 2, 4};
    case Preset::balanced:
      break;
  }
  return {9, 1, 2};
}

// A length set by the user instead of the length head. It does not count the end symbol.
struct LengthRule {
  bool relative = false;  // to the predicted length
  int64_t value = 0;

  bool operator==(const LengthRule&) const = default;

  // "12": exactly 12 symbols; "+2", "-1": so many more or fewer than predicted. Throws UsageError.
  static LengthRule parse(const std::string& text);
};

// How sentences are generated.
struct GenerationOptions {
  // Diffusion: a sentence has lengths * noises candidates.
  static constexpr Preset kUsual = Preset::balanced;
  Preset preset = kUsual;  // gives steps, lengths, noises and selection, unless they are set
  SamplerOptions sampler = {.steps = values_of(kUsual).steps};
  int64_t lengths = values_of(kUsual).lengths;  // lengths that are tried
  LengthChoice length_choice = LengthChoice::likeliest;
  int64_t noises = values_of(kUsual).noises;  // start noises per length
  bool merge_repeats = false;                 // keep one of equal symbols in a row
  // Autoregressive: a sentence has `beam` candidates.
  int64_t beam = 5;           // hypotheses that are followed; 1: greedy
  double length_penalty = 1;  // scores are log-probabilities over length to this power
  double temperature = 0;     // above 0: `beam` sentences are drawn instead
  int64_t top_k = 0;          // draw from this many likeliest symbols; 0: from all
  // Both.
  Selection selection = values_of(kUsual).selection;  // among candidates that were drawn
  int64_t batch_tokens = 48000;  // candidates x padded length of a batch, at most
  // Not part of the configuration, because they depend on the input.
  std::optional<LengthRule> length = {};
  NoiseOf noise = NoiseOf::texts;

  bool operator==(const GenerationOptions&) const = default;

  int64_t candidates() const { return lengths * noises; }
};

// Sets lengths, noises, steps and selection.
void use_preset(GenerationOptions& options, Preset preset);

// Most candidates of a sentence.
constexpr int64_t kMaxCandidates = 4096;
// Beyond these, scores overflow.
constexpr double kMaxLengthPenalty = 10, kMaxTemperature = 1000, kMinTemperature = 1e-3;
constexpr bool is_temperature(double value) {
  return value == 0 || (value >= kMinTemperature && value <= kMaxTemperature);
}

// Keys "generate.*" and "sampler.*".
void declare(config::Schema& schema, GenerationOptions& options);

// The same if the kind of the model is known: keys that only other kinds use cannot be overridden.
//   kind  must outlive the schema
void declare(config::Schema& schema, GenerationOptions& options, const ModelKind& kind);

}  // namespace tessera::seq2seq

template <>
struct tessera::EnumNames<tessera::seq2seq::Preset> {
  using Preset = tessera::seq2seq::Preset;
  static constexpr std::string_view what = "preset";
  static constexpr std::array<std::pair<Preset, std::string_view>, 3> values{
      {{Preset::fast, "fast"}, {Preset::balanced, "balanced"}, {Preset::best, "best"}}};
};

template <>
struct tessera::EnumNames<tessera::seq2seq::LengthChoice> {
  using Choice = tessera::seq2seq::LengthChoice;
  static constexpr std::string_view what = "choice of lengths";
  static constexpr std::array<std::pair<Choice, std::string_view>, 3> values{
      {{Choice::likeliest, "likeliest"}, {Choice::window, "window"}, {Choice::draw, "draw"}}};
};

template <>
struct tessera::EnumNames<tessera::seq2seq::NoiseOf> {
  using NoiseOf = tessera::seq2seq::NoiseOf;
  static constexpr std::string_view what = "noise";
  static constexpr std::array<std::pair<NoiseOf, std::string_view>, 2> values{
      {{NoiseOf::texts, "texts"}, {NoiseOf::lines, "lines"}}};
};

template <>
struct tessera::EnumNames<tessera::seq2seq::Selection> {
  using Selection = tessera::seq2seq::Selection;
  static constexpr std::string_view what = "selection";
  static constexpr std::array<std::pair<Selection, std::string_view>, 5> values{
      {{Selection::mbr, "mbr"},
       {Selection::confidence, "confidence"},
       {Selection::blend, "blend"},
       {Selection::staged, "staged"},
       {Selection::rerank, "rerank"}}};
};
