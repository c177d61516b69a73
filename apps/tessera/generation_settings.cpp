#include "generation_settings.h"

#include "base/require.h"

#include <tessera/base/enum_names.h>

#include <charconv>
#include <string_view>

namespace tessera::app {
namespace {

enum class NamedSampler { deterministic, gaussian, as_printed, difformer };

}  // namespace
}  // namespace tessera::app

template <>
struct tessera::EnumNames<tessera::app::NamedSampler> {
  using Sampler = tessera::app::NamedSampler;
  static constexpr std::string_view what = "sampler";
  static constexpr std::array<std::pair<Sampler, std::string_view>, 4> values{
      {{Sampler::deterministic, "deterministic"},
       {Sampler::gaussian, "gaussian"},
       {Sampler::as_printed, "as-printed"},
       {Sampler::difformer, "difformer"}}};
};

namespace tessera::app {
namespace {

void set_sampler(SamplerOptions& options, NamedSampler sampler) {
  switch (sampler) {
    case NamedSampler::deterministic:
      options.noise = SamplerNoise::none;
      return;
    case NamedSampler::gaussian:
      options.noise = SamplerNoise::gaussian;
      return;
    case NamedSampler::as_printed:
      options.noise = SamplerNoise::as_printed;
      return;
    case NamedSampler::difformer:
      options = SamplerOptions::difformer();
      return;
  }
}

std::optional<int64_t> positive_number(std::string_view text) {
  int64_t value = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool good = failure == std::errc() && end == text.data() + text.size() && value >= 1;
  return good ? std::optional(value) : std::nullopt;
}

// "5" is one length with 5 noises, "7x3" 7 lengths with 3 noises each.
void set_candidates(model::GenerationOptions& options, const std::string& text) {
  const size_t cross = text.find('x');
  const bool both = cross != std::string::npos;
  const auto lengths = both ? positive_number(text.substr(0, cross)) : std::optional<int64_t>(1);
  const auto noises = positive_number(both ? text.substr(cross + 1) : text);
  require_option(lengths && noises,
                 "candidates are a number (5) or lengths x noises (7x3), got '{}'", text);
  options.lengths = *lengths;
  options.noises = *noises;
}

}  // namespace

void add_generation_options(CLI::App& command, GenerationSettings& settings) {
  command.add_option("folder", settings.folder, "folder of a training run, or of a model")
      ->required()
      ->option_text("RUN|MODEL");
  command
      .add_option("--checkpoint", settings.checkpoint,
                  "which one of a run: best, last, or a number of updates (default: best where "
                  "there is one, else last)")
      ->option_text("best|last|N");
  command.add_option("--steps", settings.steps, "steps of the sampler: more are slower")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
  command
      .add_option("--r", settings.r,
                  "confidence factor of sampling: 0 plain diffusion, 1 from the borders of the "
                  "cells (default: that of training)")
      ->check(CLI::Range(0.0, 1.0))
      ->option_text("0..1");
  command
      .add_option("--sampler", settings.sampler,
                  "deterministic (Algorithm 2), gaussian (noise redrawn on the way), as-printed "
                  "(Algorithm 3 to the letter), difformer (the baseline: r = 0, 15 of 20 steps)")
      ->option_text("NAME");
  command
      .add_option("--candidates", settings.candidates,
                  "tries for every line: 5 noises of the likeliest length (5), or 3 noises of "
                  "each of the 7 likeliest lengths (7x3)")
      ->option_text("N|LxN");
  command
      .add_option("--length", settings.length,
                  "symbols of the output: exactly N, or so many more or fewer than predicted")
      ->option_text("N|+N|-N");
  command
      .add_option("--selection", settings.selection,
                  "which candidate is taken: the one the others agree with (mbr), or the one the "
                  "model is surest of (confidence)")
      ->option_text("mbr|confidence");
  command
      .add_option("--batch-tokens", settings.batch_tokens,
                  "size of a batch, in candidates x length; lower it if memory runs out")
      ->check(CLI::PositiveNumber)
      ->option_text("N");
}

model::GenerationOptions changed(model::GenerationOptions options,
                                 const GenerationSettings& settings, uint64_t seed) {
  SamplerOptions& sampler = options.sampler;
  if (!settings.sampler.empty()) set_sampler(sampler, parse_name<NamedSampler>(settings.sampler));
  if (settings.steps) {
    // A preset that leaves out a share of its steps leaves out the same share of more.
    sampler.skip_last = sampler.skip_last * *settings.steps / sampler.steps;
    sampler.steps = *settings.steps;
  }
  if (settings.r) sampler.r = settings.r;
  sampler.seed = seed;
  if (!settings.candidates.empty()) set_candidates(options, settings.candidates);
  if (!settings.length.empty()) options.length = model::LengthRule::parse(settings.length);
  if (!settings.selection.empty())
    options.selection = parse_name<model::Selection>(settings.selection);
  options.batch_tokens = settings.batch_tokens.value_or(options.batch_tokens);
  return options;
}

}  // namespace tessera::app
