#include "engine/sampler_changes.h"

#include "process/changed_sampler.h"

#include <tessera/base/enum_names.h>

namespace tessera::engine {
namespace {

enum class NamedSampler { deterministic, gaussian, as_printed, difformer };
enum class SamplerPath { altered, fixed };

}  // namespace
}  // namespace tessera::engine

template <>
struct tessera::EnumNames<tessera::engine::NamedSampler> {
  using Sampler = tessera::engine::NamedSampler;
  static constexpr std::string_view what = "sampler";
  static constexpr std::array<std::pair<Sampler, std::string_view>, 4> values{
      {{Sampler::deterministic, "deterministic"},
       {Sampler::gaussian, "gaussian"},
       {Sampler::as_printed, "as-printed"},
       {Sampler::difformer, "difformer"}}};
};

template <>
struct tessera::EnumNames<tessera::engine::SamplerPath> {
  using Path = tessera::engine::SamplerPath;
  static constexpr std::string_view what = "path";
  static constexpr std::array<std::pair<Path, std::string_view>, 2> values{
      {{Path::altered, "altered"}, {Path::fixed, "fixed"}}};
};

namespace tessera::engine {
namespace {

void set_sampler(SamplerOptions& options, NamedSampler sampler) {
  // The variance is that of Gaussian noise: without it, nothing is left to be large.
  if (sampler != NamedSampler::gaussian) options.variance = SamplerVariance::posterior;
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

NamedSampler sampler_of(SamplerNoise noise) {
  switch (noise) {
    case SamplerNoise::gaussian:
      return NamedSampler::gaussian;
    case SamplerNoise::as_printed:
      return NamedSampler::as_printed;
    case SamplerNoise::none:
      break;
  }
  return NamedSampler::deterministic;
}

template <class Options>
SamplerOptions with_changes(SamplerOptions sampler, const Options& options) {
  if (options.sampler) set_sampler(sampler, parse_name<NamedSampler>(*options.sampler));
  sampler = changed_sampler(sampler, options.steps, options.r, sampler.seed);
  if (options.path) sampler.alter = parse_name<SamplerPath>(*options.path) == SamplerPath::altered;
  if (options.estimate) sampler.estimate = parse_name<Estimate>(*options.estimate);
  if (options.clock) sampler.clock = parse_name<SamplerClock>(*options.clock);
  SymbolSampling& symbols = sampler.symbols;
  if (options.order) symbols.order = parse_name<UncoverOrder>(*options.order);
  if (options.predictor) symbols.predictor = parse_name<Predictor>(*options.predictor);
  if (options.correctors) symbols.correctors = *options.correctors;
  if (options.temperature) symbols.temperature = *options.temperature;
  return sampler;
}

template <class Options>
void fill_in(const SamplerOptions& sampler, const Family& family, Options& options) {
  options.steps = sampler.steps;
  if (const Process* const process = family.process()) {
    options.r = sampler.rescale_reverse ? sampler.r.value_or(process->options().r) : 0;
    options.sampler = name_of(sampler_of(sampler.noise));
    options.path = name_of(sampler.alter ? SamplerPath::altered : SamplerPath::fixed);
    options.clock = name_of(sampler.clock);
    options.estimate = name_of(sampler.estimate);
  }
  if (family.draws_symbols()) {
    options.order = name_of(sampler.symbols.order);
    options.predictor = name_of(sampler.symbols.predictor);
    options.correctors = sampler.symbols.correctors;
    options.temperature = sampler.symbols.temperature;
  }
}

}  // namespace

SamplerOptions changed(const SamplerOptions& sampler, const GenerateOptions& options) {
  return with_changes(sampler, options);
}
SamplerOptions changed(const SamplerOptions& sampler, const SampleOptions& options) {
  return with_changes(sampler, options);
}
void describe(const SamplerOptions& sampler, const Family& family, GenerateOptions& options) {
  fill_in(sampler, family, options);
}
void describe(const SamplerOptions& sampler, const Family& family, SampleOptions& options) {
  fill_in(sampler, family, options);
}

}  // namespace tessera::engine
