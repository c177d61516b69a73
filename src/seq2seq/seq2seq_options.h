#pragma once

#include "config/config.h"
#include "nn/transformer.h"

#include <tessera/codebook/embedding_table.h>
#include <tessera/process/adaptive_schedule.h>
#include <tessera/process/estimate.h>
#include <tessera/process/family.h>
#include <tessera/process/objective.h>
#include <tessera/process/process.h>
#include <tessera/symbols/symbol_family.h>

namespace tessera::seq2seq {

// How a model writes a target.
enum class ModelKind {
  diffusion,       // all symbols at once, from noise: points are moved
  autoregressive,  // one after the other
  symbols,         // all symbols at once, from masks or other symbols
};

// How a model reads a source.
enum class Reading {
  cross,   // an encoder reads it; the decoder attends to the result
  joined,  // as one sequence with the target, in one stack with the layers of both
};

// Whether generate.preset is for models of this kind.
constexpr bool has_presets(ModelKind kind) {
  return kind != ModelKind::autoregressive;
}

// The network. Its vocabulary comes from the corpus.
struct NetworkOptions {
  int64_t latent = 128;  // width of the codes, in which diffusion happens
  nn::TransformerOptions transformer = {};
  int64_t positions = 512;  // longest sentence, end symbol included
  Reading reading = Reading::cross;
};

// All options of a sequence-to-sequence model, stored beside its weights.
struct Seq2SeqOptions {
  ModelKind kind = ModelKind::diffusion;
  NetworkOptions network = {};
  ProcessOptions process = {};
  ObjectiveOptions objective = {};
  Normalise normalise = Normalise::layernorm;
  double length_weight = 0.1;             // of the length head's cross-entropy
  bool length_gradient = true;            // whether the encoder learns from it, too
  double self_conditioning = 0.5;         // probability of a first pass without gradient
  Estimate condition_on = Estimate::raw;  // how that pass's estimate is shown
  ConditionLoss condition_loss = ConditionLoss::second;  // which passes count in the loss
  bool output_bias = false;                              // scores of symbols have a bias
  AdaptiveScheduleOptions adaptive = {};                 // a schedule of noise for every position
  SymbolFamilyOptions symbols = {};  // for models of that kind, in place of process, objective
};

void declare(config::Schema& schema, Seq2SeqOptions& options);

// Restricts the options that `declare` adds to some kinds of models.
//   kind  of the model; must outlive the schema
void only_for(config::Schema& schema, const ModelKind& kind, const std::vector<ModelKind>& users,
              const std::function<void()>& declare);

}  // namespace tessera::seq2seq

template <>
struct tessera::EnumNames<tessera::seq2seq::ModelKind> {
  using Kind = tessera::seq2seq::ModelKind;
  static constexpr std::string_view what = "kind of model";
  static constexpr std::array<std::pair<Kind, std::string_view>, 3> values{
      {{Kind::diffusion, "diffusion"}, {Kind::autoregressive, "ar"}, {Kind::symbols, "symbols"}}};
};
template <>
struct tessera::EnumNames<tessera::seq2seq::Reading> {
  using Reading = tessera::seq2seq::Reading;
  static constexpr std::string_view what = "way of reading";
  static constexpr std::array<std::pair<Reading, std::string_view>, 2> values{
      {{Reading::cross, "cross"}, {Reading::joined, "joined"}}};
};
