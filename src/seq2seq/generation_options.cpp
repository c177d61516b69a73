#include "seq2seq/generation_options.h"

#include "base/require.h"
#include "process/declare.h"

#include <charconv>

#include <fmt/format.h>

namespace tessera::seq2seq {

LengthRule LengthRule::parse(const std::string& text) {
  constexpr int64_t kLongest = 1'000'000;
  const bool relative = text.starts_with('+') || text.starts_with('-');
  const char* const begin = text.data() + (text.starts_with('+') ? 1 : 0);
  const char* const end = text.data() + text.size();
  int64_t value = 0;
  const auto [stop, failure] = std::from_chars(begin, end, value);
  const bool number = failure == std::errc() && stop == end && !text.starts_with("+-");
  require_option(number && value >= -kLongest && value <= kLongest,
                 "a length is a number of symbols (12), or how many more or fewer than predicted "
                 "(+2, -1); got '{}'",
                 text);
  return {relative, value};
}

void use_preset(GenerationOptions& options, Preset preset) {
  const PresetValues values = values_of(preset);
  options.preset = preset;
  options.lengths = values.lengths;
  options.noises = values.noises;
  options.sampler.steps = values.steps;
  options.selection = values.selection;
}

namespace {

void declare_candidates(config::Schema& schema, GenerationOptions& options) {
  schema.option(
      "generate.preset", options.preset,
      "work for a sentence: at most 6 (fast), 20 (balanced) or 100 (best) decoder passes; "
      "the default of lengths, noises, selection and steps (not for autoregressive "
      "models)");
  schema
      .option("generate.lengths", options.lengths, "how many lengths are tried for every sentence")
      .range(1, kMaxCandidates);
  schema.option("generate.length_choice", options.length_choice,
                "lengths to try: the likeliest ones (likeliest), the likeliest one and its "
                "neighbours (window), or lengths drawn by their probability (draw)");
  schema
      .option("generate.noises", options.noises,
              "start noises of every length; a sentence has lengths x noises candidates")
      .range(1, kMaxCandidates);
}

void declare_search(config::Schema& schema, GenerationOptions& options) {
  schema
      .option(
          "generate.beam", options.beam,
          "autoregressive models: number of hypotheses, 1 is greedy; with a temperature, number of "
          "sentences to draw")
      .range(1, kMaxCandidates);
  schema
      .option("generate.length_penalty", options.length_penalty,
              "autoregressive models: hypotheses are ranked by log-probability divided by length "
              "to this power")
      .range(0, kMaxLengthPenalty);
  schema
      .option("generate.temperature", options.temperature,
              "autoregressive models: above 0, sentences are drawn instead of searched for; higher "
              "values vary more")
      .range(0, kMaxTemperature)
      .check(is_temperature, fmt::format("0, or at least {}", kMinTemperature));
  schema
      .option("generate.top_k", options.top_k,
              "autoregressive models: draw among so many of the likeliest symbols; 0: all")
      .at_least(0);
}

//   part_for  declares a part of the keys, which some kinds of models have a use for
void declare_all(
    config::Schema& schema, GenerationOptions& options,
    const std::function<void(std::vector<ModelKind>, const std::function<void()>&)>& part_for) {
  using enum ModelKind;
  part_for({diffusion, symbols}, [&] { declare_candidates(schema, options); });
  schema.option(
      "generate.merge_repeats", options.merge_repeats,
      "write a symbol once if it is repeated in a row: neighbours that are written at the "
      "same time often say the same (not for text of letters or digits)");
  schema
      .option("generate.selection", options.selection,
              "how to choose a candidate: by agreement with the others (mbr, by sentence BLEU), by "
              "the model's mean log-probability (confidence), by both (blend), within each length "
              "and then across lengths (staged; not for autoregressive models), or by the "
              "probability that an autoregressive model gives it (rerank; requests and flags only)")
      .check([](Selection value) { return value != Selection::rerank; },
             "mbr, confidence, blend or staged (rerank needs a model: generate --selection "
             "rerank=MODEL)");
  part_for({autoregressive}, [&] { declare_search(schema, options); });
  schema
      .option("generate.batch_tokens", options.batch_tokens,
              "size of a batch, in candidates x padded length, at most 4096 by diffusion on a "
              "CPU; lower it if memory runs out")
      .range(1, 100000000);
  part_for({diffusion, symbols}, [&] { declare_steps(schema, "sampler.", options.sampler); });
  part_for({diffusion}, [&] { declare_paths(schema, "sampler.", options.sampler); });
  part_for({symbols}, [&] { tessera::declare(schema, "sampler.", options.sampler.symbols); });
}

}  // namespace

void declare(config::Schema& schema, GenerationOptions& options) {
  declare_all(schema, options, [](const auto&, const auto& declare) { declare(); });
}

void declare(config::Schema& schema, GenerationOptions& options, const ModelKind& kind) {
  declare_all(schema, options, [&](std::vector<ModelKind> users, const auto& declare) {
    only_for(schema, kind, std::move(users), declare);
  });
}

}  // namespace tessera::seq2seq
