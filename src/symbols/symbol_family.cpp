#include <tessera/symbols/symbol_family.h>

#include <tessera/symbols/symbol_sampler.h>

#include "base/require.h"
#include "process/masked_mean.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <array>

namespace tessera {
namespace {

constexpr std::array<std::string_view, 3> kMeasures{"bound", "cross_entropy", "noised"};

// What corrupt() passes on to loss() in `hidden`, in this order.
enum Hidden : size_t { kStates, kRows, kTime };

SymbolSamplerOptions sampler_options(const SamplerOptions& options, SymbolTarget target) {
  return {options.steps, options.symbols, target, options.seed};
}

}  // namespace

SymbolFamily::SymbolFamily(const Codebook& codebook, const SymbolFamilyOptions& options,
                           int64_t mask)
    : Family(codebook),
      options_(options),
      process_(codebook.decodable(), options.process),
      mask_(mask) {
  require_objective(process_, options.objective);
  if (!process_.kernel().has_mask()) return;
  require_option(mask >= 0,
                 "symbols.noise = \"absorbing\" needs a mask, and these codes have none");
  require(mask < codebook.symbols(), "the mask must be in [0, {}), got {}", codebook.symbols(),
          mask);
  const at::Tensor label =
      at::full({1}, mask, at::TensorOptions().dtype(at::kLong).device(codebook.device()));
  require(codebook.rows_of(label).item<int64_t>() < 0,
          "symbol {} cannot be the mask: it can be decoded", mask);
}

std::string SymbolFamily::summary() const {
  const SymbolNoise noise = options_.process.noise;
  const bool survival = noise == SymbolNoise::absorbing || noise == SymbolNoise::uniform;
  return fmt::format(
      "diffusion of symbols ({} noise, {}{})", name_of(noise),
      survival ? fmt::format("{} schedule, ", name_of(options_.process.survival.kind)) : "",
      name_of(options_.objective.target));
}

std::span<const std::string_view> SymbolFamily::measures() const {
  return kMeasures;
}

at::Tensor SymbolFamily::labels_of(const at::Tensor& states) const {
  const NoiseKernel& kernel = process_.kernel();
  const at::Tensor symbols = codebook().symbols_of(states.clamp(0, kernel.symbols() - 1));
  return kernel.has_mask() ? symbols.masked_fill(states.eq(kernel.mask()), mask_) : symbols;
}

at::Tensor SymbolFamily::codes_of(const at::Tensor& states) const {
  return codebook().encode(labels_of(states));
}

at::Tensor SymbolFamily::told(const at::Tensor& t) const {
  return options_.told_time ? t : at::ones_like(t);
}

Draws SymbolFamily::draw(const TrainingStreams& streams, const at::Tensor& samples,
                         at::IntArrayRef elements) const {
  Draws draws{process_.draw_time(streams.time, samples),
              random_uniform(streams.noise, samples, elements)};
  // The first number of that stream is for the time.
  if (options_.objective.target == SymbolTarget::one_jump)
    draws.push_back(random_uniform(streams.time, samples, {3}).narrow(1, 1, 2));
  return draws;
}

Corrupted SymbolFamily::corrupt(const at::Tensor& labels, const Draws& draws) const {
  const at::Tensor &t = draws.at(0), &u = draws.at(1);
  const at::Tensor rows = codebook().rows_of(labels);
  at::Tensor states = process_.noise(rows, t, u);
  if (options_.objective.target == SymbolTarget::one_jump)
    states = process_.jump(states, t, draws.at(2));
  // Padding and the like stays as it is.
  const at::Tensor shown = at::where(rows.lt(0), labels, labels_of(states));
  return {codebook().encode(shown), told(t.to(at::kFloat)), {states, rows, t}};
}

SymbolPrediction SymbolFamily::prediction(const at::Tensor& output,
                                          const at::Tensor& labels) const {
  return {[this, output] { return codebook().logits(output); },
          [this, output, labels] { return codebook().cross_entropy(output, labels); }};
}

FamilyLoss SymbolFamily::loss(const Corrupted& corrupted, const at::Tensor& output,
                              const at::Tensor& labels, const at::Tensor& mask) const {
  const at::Tensor &states = corrupted.hidden.at(kStates), &rows = corrupted.hidden.at(kRows);
  const SymbolLoss parts = symbol_objective(process_, prediction(output, labels), states, rows,
                                            corrupted.hidden.at(kTime), mask, options_.objective);
  const c10::NoGradGuard no_grad;
  const at::Tensor noised = masked_mean(states.ne(rows).to(at::kFloat), mask);
  return {parts.total,
          at::stack({parts.bound.to(at::kFloat), parts.cross_entropy.to(at::kFloat), noised})};
}

at::Tensor SymbolFamily::bound(const Corrupted& corrupted, const at::Tensor& output,
                               const at::Tensor& labels) const {
  const at::Tensor& rows = corrupted.hidden.at(kRows);
  return symbol_bound(process_, prediction(output, labels), corrupted.hidden.at(kStates), rows,
                      corrupted.hidden.at(kTime));
}

Sample SymbolFamily::reverse(const Denoiser& network, const at::Tensor& samples,
                             at::IntArrayRef elements, const SamplerOptions& options,
                             const StepCallback& callback, const at::Tensor& seeds,
                             const at::Tensor& present) const {
  const SymbolSampler sampler(process_, sampler_options(options, options_.objective.target));
  at::Tensor previous;  // what the network sees of its last estimate
  const SymbolNetwork asked{[&](const at::Tensor& x, const at::Tensor& t) {
                              const at::Tensor codes = codes_of(x);
                              if (!previous.defined()) previous = at::zeros_like(codes);
                              const at::Tensor output = network(codes, told(t), previous);
                              if (options.self_conditioning) previous = shown(output);
                              return output;
                            },
                            [&](const at::Tensor& output) { return codebook().logits(output); }};
  std::function<bool(const SymbolStep&)> watch;
  if (callback)
    watch = [&](const SymbolStep& step) {
      const at::Tensor noisy = labels_of(step.x);
      return callback({step.index,
                       step.t,
                       codebook().encode(noisy),
                       at::full(noisy.sizes(), step.t, step.estimate.options()),
                       {},
                       step.estimate,
                       codebook().decode(step.estimate),
                       noisy});
    };
  const SymbolSample sample = sampler.run(asked, samples, elements, {}, seeds, present, watch);
  return {labels_of(sample.x), sample.estimate, sample.calls, sample.log_probabilities};
}

int64_t SymbolFamily::calls(const SamplerOptions& options) const {
  return SymbolSampler(process_, sampler_options(options, options_.objective.target)).calls();
}

}  // namespace tessera
