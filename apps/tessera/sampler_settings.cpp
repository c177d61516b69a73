#include "sampler_settings.h"

#include "option_checks.h"
#include "process/changed_sampler.h"

#include <tessera/base/enum_names.h>

namespace tessera::app {
namespace {

enum class NamedSampler { deterministic, gaussian, as_printed, difformer };
enum class SamplerPath { altered, fixed };

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

template <>
struct tessera::EnumNames<tessera::app::SamplerPath> {
  using Path = tessera::app::SamplerPath;
  static constexpr std::string_view what = "path";
  static constexpr std::array<std::pair<Path, std::string_view>, 2> values{
      {{Path::altered, "altered"}, {Path::fixed, "fixed"}}};
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

}  // namespace

void add_model_option(CLI::App& command, SamplerSettings& settings) {
  command.add_option("folder", settings.folder, "folder of a training run, or of a model")
      ->required()
      ->option_text("RUN|MODEL");
}

void add_sampler_options(CLI::App& command, SamplerSettings& settings) {
  command
      .add_option("--checkpoint", settings.checkpoint,
                  "checkpoint of a run: best, last, or a number of updates (default: best if there "
                  "is one, else last)")
      ->option_text("best|last|N");
  command
      .add_option("--precision", settings.precision,
                  "number format of the network; auto is bfloat16 on CUDA and float32 on a CPU "
                  "(bfloat16 is faster there if the CPU has AVX512-BF16 or AMX)")
      ->option_text("auto|float32|bfloat16");
  command.add_option("--steps", settings.steps, "number of sampling steps; more steps take longer")
      ->check(whole_number(1))
      ->option_text("N");
  command
      .add_option("--r", settings.r,
                  "confidence factor of sampling: 0 is plain diffusion, 1 starts at the borders of "
                  "the cells (default: as in training)")
      ->check(number_in(0, 1))
      ->option_text("0..1");
  command
      .add_option(
          "--sampler", settings.sampler,
          "deterministic (Algorithm 2), gaussian (noise is partly redrawn at each step), "
          "as-printed (Algorithm 3 to the letter), difformer (the baseline: r = 0, 15 of 20 steps)")
      ->option_text("NAME");
  command
      .add_option("--path", settings.path,
                  "noise end of a sampling path: recomputed from each estimate (altered), or kept "
                  "from the start (fixed)")
      ->option_text("altered|fixed");
  command
      .add_option("--clock", settings.clock,
                  "rescaled time of a position in sampling: computed anew at each step (absolute), "
                  "or moved by its speed (velocity)")
      ->option_text("absolute|velocity");
  command
      .add_option("--estimate", settings.estimate,
                  "point that a path is built from: the network's estimate (raw), the mean of the "
                  "codes weighted by its scores (mean), the nearest code (nearest), or the "
                  "estimate scaled to a code's length (rescaled)")
      ->option_text("raw|mean|nearest|rescaled");
}

void change_sampler(SamplerOptions& sampler, const SamplerSettings& settings, uint64_t seed) {
  if (!settings.sampler.empty()) set_sampler(sampler, parse_name<NamedSampler>(settings.sampler));
  sampler = changed_sampler(sampler, settings.steps, settings.r, seed);
  if (!settings.path.empty())
    sampler.alter = parse_name<SamplerPath>(settings.path) == SamplerPath::altered;
  if (!settings.estimate.empty()) sampler.estimate = parse_name<Estimate>(settings.estimate);
  if (!settings.clock.empty()) sampler.clock = parse_name<SamplerClock>(settings.clock);
}

}  // namespace tessera::app
