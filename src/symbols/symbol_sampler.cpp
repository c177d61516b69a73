#include <tessera/symbols/symbol_sampler.h>

#include "base/infinity.h"
#include "base/require.h"
#include "symbols/categorical.h"
#include "symbols/poisson.h"
#include "tensor/tensor_checks.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera {
namespace {

// Streams of Purpose::symbol_step: one for the start and the order of uncovering, then some for
// every step.
constexpr uint64_t kStart = 0, kFirstStep = 1, kStreamsOfAStep = 64;

// Symbols that were chosen, and how likely they were.
struct Chosen {
  at::Tensor symbols;            // [N] int64
  at::Tensor log_probabilities;  // [N] float32
};

// One call of run().
class Run {
 public:
  Run(const SymbolProcess& process, const SymbolSamplerOptions& options,
      const std::vector<double>& times, const SymbolNetwork& network, const at::Tensor& samples,
      at::IntArrayRef shape, const at::Tensor& seeds,
      const std::function<bool(const SymbolStep&)>& callback)
      : process_(process),
        options_(options),
        times_(times),
        network_(network),
        samples_(samples),
        shape_(shape),
        seeds_(seeds),
        callback_(callback) {}

  SymbolSample make(const at::Tensor& given, const at::Tensor& present) {
    const at::Tensor numbers = uniform(kStart);
    free_ =
        present.defined() ? present : at::ones(numbers.sizes(), numbers.options().dtype(at::kBool));
    x_ = process_.kernel().start(numbers);
    if (given.defined()) {
      require_shape(given, x_.sizes(), "given");
      free_ = free_.logical_and(given.lt(0));
      x_ = at::where(given.ge(0), given, x_);
    }
    x_ = at::where(free_, x_, given.defined() ? given.clamp_min(0) : at::zeros_like(x_));
    scores_ = at::zeros(x_.sizes(), numbers.options().dtype(at::kFloat));

    if (process_.absorbing() == nullptr || options_.sampling.correctors > 0 ||
        options_.sampling.predictor != Predictor::ancestral)
      by_steps();
    else if (options_.sampling.order == UncoverOrder::confidence)
      by_confidence();
    else
      by_order(numbers);
    return {x_, scores_, estimate_, calls_};
  }

 private:
  double time(size_t step) const { return times_[step]; }
  size_t steps() const { return times_.size() - 1; }

  at::Tensor tensor(double t) const {
    return at::scalar_tensor(t, samples_.options().dtype(at::kDouble));
  }

  // [B, ...], functions of (seed, stream, sample, position)
  at::Tensor uniform(uint64_t stream) const {
    return random_uniform({options_.seed, Purpose::symbol_step, stream}, samples_, shape_, seeds_);
  }
  static uint64_t stream(size_t step, uint64_t number) {
    return kFirstStep + step * kStreamsOfAStep + number;
  }

  // Asks the network about the present state. False: the caller wants no more steps.
  bool ask(size_t step, double t) {
    const at::Tensor told = at::full({samples_.size(0)}, t, samples_.options().dtype(at::kFloat));
    estimate_ = network_.estimate(x_, told);
    ++calls_;
    return !callback_ || callback_({static_cast<int64_t>(step), t, x_, estimate_});
  }

  // Indices of the chosen places in the flattened state.
  static at::Tensor places(const at::Tensor& chosen) {
    return chosen.reshape({-1}).nonzero().squeeze(-1);
  }
  at::Tensor at_places(const at::Tensor& all, const at::Tensor& where) const {
    return all.flatten().index_select(0, where);
  }

  // log p(x0) at some places.   [n] -> [n, K]
  at::Tensor log_p0(const at::Tensor& where, double t) const {
    const at::Tensor logits =
        network_.logits(estimate_.flatten(0, -2).index_select(0, where)).to(at::kFloat);
    return log_estimate(process_, options_.target, logits, at_places(x_, where), t);
  }

  // A symbol for each row.   log_p [n, K] normalised, u [n]
  Chosen choose(const at::Tensor& log_p, const at::Tensor& u, bool likeliest) const {
    const double temperature = options_.sampling.temperature;
    at::Tensor symbols;
    if (likeliest || temperature == 0)
      symbols = log_p.argmax(-1);
    else
      symbols = draw_categorical(temperature == 1 ? log_p : log_p / temperature, u);
    return {symbols, entry(log_p, symbols).to(at::kFloat)};
  }

  void put(const at::Tensor& where, const Chosen& chosen) {
    x_ = x_.flatten().index_copy(0, where, chosen.symbols).view(x_.sizes());
    scores_ = scores_.flatten().index_copy(0, where, chosen.log_probabilities).view(x_.sizes());
  }

  bool is_last(size_t step) const { return step + 1 == steps(); }
  bool likeliest(size_t step) const { return is_last(step) && options_.sampling.likeliest_last; }

  at::Tensor covered() const { return x_.eq(process_.kernel().mask()).logical_and(free_); }

  // Fills in what is left, also if the caller stops early.
  void finish(size_t step) {
    const at::Tensor where = places(process_.absorbing() != nullptr ? covered() : free_);
    if (where.numel() == 0) return;
    put(where, choose(log_p0(where, time(step)), {}, /*likeliest=*/true));
  }

  // Masks, in the order of the reverse process. The step at which each is uncovered depends on one
  // random number only, so it is known before the first call. Calls that uncover nothing are left
  // out, and logits are computed only where they are used.
  void by_order(const at::Tensor& numbers) {
    const Survival& survival = process_.absorbing()->survival();
    const double all = survival.lost(tensor(time(0))).item<double>();
    std::vector<double> left;  // share of the masks that remain after each step, rising
    for (size_t step = steps(); step > 0; --step)
      left.push_back(survival.lost(tensor(time(step))).item<double>() / all);
    const at::Tensor bounds = at::tensor(left, at::kDouble).to(numbers.device());
    // A number at or above left[k] has been uncovered by then.
    const auto count = static_cast<int64_t>(steps());
    const at::Tensor step_of = at::where(
        free_, count - at::bucketize(numbers, bounds, /*out_int32=*/false, /*right=*/true), -1);
    const at::Tensor used =
        at::bincount((step_of + 1).flatten(), {}, count + 1).narrow(0, 1, count).cpu();
    for (size_t step = 0; step < steps(); ++step) {
      if (used[static_cast<int64_t>(step)].item<int64_t>() == 0) continue;
      const bool go_on = ask(step, time(step));
      if (!go_on) return finish(step);
      const at::Tensor where = places(step_of.eq(static_cast<int64_t>(step)));
      put(where, choose(log_p0(where, time(step)), at_places(uniform(stream(step, 0)), where),
                        likeliest(step)));
    }
  }

  // Mask-Predict: all masks get symbols, and the least sure ones are covered again.
  void by_confidence() {
    const at::Tensor sizes = free_.flatten(1).sum(1, /*keepdim=*/true);  // [B, 1]
    for (size_t step = 0; step < steps(); ++step) {
      const at::Tensor where = places(covered());
      if (where.numel() == 0) return;
      if (!ask(step, time(step))) return finish(step);
      put(where, choose(log_p0(where, time(step)), at_places(uniform(stream(step, 0)), where),
                        likeliest(step)));
      if (is_last(step)) return;
      const double share = std::cos(std::numbers::pi / 2 * static_cast<double>(step + 1) /
                                    static_cast<double>(steps()));
      const at::Tensor kept = (sizes.to(at::kDouble) * (1 - share)).ceil();
      const at::Tensor sure = at::where(free_, scores_, -kInfinity).flatten(1);
      const at::Tensor rank =
          sure.argsort(/*stable=*/true, 1, /*descending=*/true).argsort(/*stable=*/true, 1, false);
      const at::Tensor cover = rank.ge(kept).view(x_.sizes()).logical_and(free_);
      x_ = x_.masked_fill(cover, process_.kernel().mask());
    }
  }

  // Every free symbol may change at every step.
  void by_steps() {
    const at::Tensor where = places(free_);
    if (where.numel() == 0) return;
    const SymbolSampling& sampling = options_.sampling;
    for (size_t step = 0; step < steps(); ++step) {
      const double t = time(step), s = time(step + 1);
      if (!ask(step, t)) return finish(step);
      if (is_last(step)) return last(where, step);
      if (sampling.predictor == Predictor::ancestral)
        ancestral(where, step);
      else
        jump(where, rates(where, t, false), t - s, stream(step, 0));
      if (t > sampling.corrector_from * process_.horizon()) continue;
      for (int64_t k = 0; k < sampling.correctors; ++k) {
        if (!ask(step, s)) return finish(step + 1);
        jump(where, rates(where, s, true), (t - s) * sampling.corrector_size,
             stream(step, 2 + static_cast<uint64_t>(k)));
      }
    }
  }

  // The likeliest symbols are those of the posterior: it sees x_t, which a plug-in estimate does
  // not.
  at::Tensor sharpened(const at::Tensor& log_p, const at::Tensor& xt, double t) const {
    const double temperature = options_.sampling.temperature;
    if (temperature == 1) return log_p;
    if (temperature > 0) return (log_p / temperature).log_softmax(-1);
    at::Tensor posterior = log_p;
    if (process_.options().reverse == Reverse::plug_in)
      posterior = log_p + process_.kernel()
                              .log_from(xt, tensor(0), tensor(t))
                              .narrow(-1, 0, process_.kernel().symbols());
    return at::one_hot(posterior.argmax(-1), log_p.size(-1)).to(log_p.scalar_type()).log();
  }

  void ancestral(const at::Tensor& where, size_t step) {
    const double t = time(step);
    const at::Tensor xt = at_places(x_, where);
    const at::Tensor u = at::stack(
        {at_places(uniform(stream(step, 0)), where), at_places(uniform(stream(step, 1)), where)});
    const at::Tensor log_p = sharpened(log_p0(where, t), xt, t);
    const at::Tensor next = process_.kernel().draw_reverse(
        log_p, xt, tensor(time(step + 1)), tensor(t), u, process_.options().reverse);
    x_ = x_.flatten().index_copy(0, where, next).view(x_.sizes());
  }

  // The last step, to time 0: every state is a symbol there.
  void last(const at::Tensor& where, size_t step) {
    const double t = time(step);
    const SymbolProcessOptions& process = process_.options();
    const at::Tensor xt = at_places(x_, where);
    at::Tensor log_p = log_p0(where, t);
    const bool as_it_is = !process.continuous && process.first_term == FirstTerm::estimate &&
                          t <= 1 && process_.absorbing() == nullptr;
    if (!as_it_is)
      log_p = process_.kernel()
                  .log_reverse(log_p, xt, tensor(0), tensor(t), process.reverse)
                  .narrow(-1, 0, process_.kernel().symbols());
    put(where, choose(log_p, at_places(uniform(stream(step, 0)), where), likeliest(step)));
  }

  // Rates of jumps out of the present states, per unit of t / T; for a corrector, the forward rates
  // are added.
  at::Tensor rates(const at::Tensor& where, double t, bool corrector) const {
    const NoiseKernel& kernel = process_.kernel();
    const at::Tensor xt = at_places(x_, where);
    const at::Tensor back =
        kernel.reverse_rates(log_p0(where, t), xt, tensor(t), process_.options().reverse);
    return corrector ? back + kernel.rates_from(xt, tensor(t)).to(back.scalar_type()) : back;
  }

  // Numbers of jumps from x_t to all symbols are Poisson numbers, and independent; so their sum is
  // one, and where each jump leads is drawn apart. Jumps between values in an order are added up;
  // of others the first counts.
  at::Tensor leap(const at::Tensor& where, const at::Tensor& xt, const at::Tensor& expected,
                  uint64_t stream) const {
    // Random numbers for the number of jumps (the first one), and for jumps 1, 2, ...   -> [n]
    const auto numbers = [&](int64_t count) {
      std::vector<int64_t> shape(shape_.begin(), shape_.end());
      shape.insert(shape.begin(), count);
      return random_uniform({options_.seed, Purpose::symbol_step, stream}, samples_, shape, seeds_);
    };
    const at::Tensor below = expected.cumsum(-1);
    const at::Tensor all = below.narrow(-1, -1, 1).contiguous();
    const at::Tensor last = at::searchsorted(below, all);
    const at::Tensor count = draw_poisson(all.squeeze(-1), at_places(numbers(1).squeeze(1), where));
    const SymbolNoise noise = process_.options().noise;
    const bool ordered = noise == SymbolNoise::gaussian || noise == SymbolNoise::target_rate;
    const int64_t drawn_most = count.max().item<int64_t>();
    const int64_t most = ordered ? drawn_most : std::min<int64_t>(drawn_most, 1);
    if (most == 0) return xt;
    const at::Tensor drawn = numbers(1 + most);
    at::Tensor moved = xt;
    for (int64_t k = 1; k <= most; ++k) {
      const at::Tensor aim = at_places(drawn.select(1, k), where).unsqueeze(-1) * all;
      const at::Tensor to = at::minimum(
          at::searchsorted(below, aim.to(below.scalar_type()), /*out_int32=*/false, /*right=*/true),
          last);
      moved = moved + at::where(count.ge(k), to.squeeze(-1) - xt, 0);
    }
    return moved.clamp(0, process_.kernel().symbols() - 1);
  }

  // Moves by rates [n, states] for this length of time.
  void jump(const at::Tensor& where, const at::Tensor& rates, double length, uint64_t stream) {
    const at::Tensor xt = at_places(x_, where);
    const at::Tensor expected = rates * (length / process_.horizon());
    at::Tensor next;
    if (options_.sampling.predictor == Predictor::tau_leaping) {
      next = leap(where, xt, expected, stream);
    } else {
      const at::Tensor stay = (1 - expected.sum(-1)).clamp_min(0);
      const at::Tensor all = expected.scatter(-1, xt.unsqueeze(-1), stay.unsqueeze(-1));
      next = draw_categorical(all.log(), at_places(uniform(stream), where));
    }
    x_ = x_.flatten().index_copy(0, where, next).view(x_.sizes());
  }

  const SymbolProcess& process_;
  const SymbolSamplerOptions& options_;
  const std::vector<double>& times_;
  const SymbolNetwork& network_;
  const at::Tensor& samples_;
  at::IntArrayRef shape_;
  const at::Tensor& seeds_;
  const std::function<bool(const SymbolStep&)>& callback_;
  at::Tensor x_, free_, scores_, estimate_;
  int64_t calls_ = 0;
};

}  // namespace

SymbolSampler::SymbolSampler(const SymbolProcess& process, const SymbolSamplerOptions& options)
    : process_(process), options_(options) {
  const SymbolSampling& sampling = options.sampling;
  const bool masks = process.absorbing() != nullptr;
  require_option(options.steps >= 1 && static_cast<double>(options.steps) <= process.horizon(),
                 "sampler steps must be in [1, {}] (the horizon), got {}", process.horizon(),
                 options.steps);
  require_option(sampling.temperature >= 0 && std::isfinite(sampling.temperature),
                 "the temperature must be a number >= 0 (0: the likeliest symbols), got {}",
                 sampling.temperature);
  require_option(sampling.order == UncoverOrder::random || masks,
                 "sampler.order = \"confidence\" uncovers masks, and this model has none: its "
                 "noise replaces symbols by other symbols");
  require_option(sampling.predictor != Predictor::tau_leaping || !masks,
                 "sampler.predictor = \"tau-leaping\" is for jumps between values or symbols, "
                 "and a mask has no place among them");
  require_option(sampling.order == UncoverOrder::random ||
                     (sampling.predictor == Predictor::ancestral && sampling.correctors == 0),
                 "sampler.order = \"confidence\" goes with predictor = \"ancestral\" and "
                 "no correctors");
  require_option(
      sampling.correctors >= 0 && sampling.correctors < static_cast<int64_t>(kStreamsOfAStep) - 2,
      "correctors must be in [0, {}), got {}", kStreamsOfAStep - 2, sampling.correctors);
  require_option(sampling.corrector_size > 0, "the size of correctors must be positive, got {}",
                 sampling.corrector_size);
  require_option(process.kernel().has_rates() ||
                     (sampling.predictor == Predictor::ancestral && sampling.correctors == 0),
                 "symbols.noise = \"{}\" has steps and no rates: take sampler.predictor = "
                 "\"ancestral\" and no correctors",
                 name_of(process.options().noise));
  require_option(sampling.last_time >= 0 && sampling.last_time < 1,
                 "sampler.last_time must be in [0, 1), got {}", sampling.last_time);
  require_option(sampling.last_time == 0 || process.options().continuous,
                 "sampler.last_time needs symbols.continuous = true: otherwise the last "
                 "step begins at one of the steps of training");
  const double horizon = process.horizon();
  const auto steps = static_cast<double>(options.steps);
  for (int64_t k = 0; k < options.steps; ++k) {
    const auto done = static_cast<double>(k);
    const double left = sampling.last_time > 0 && options.steps > 1
                            ? 1 - (1 - sampling.last_time) * done / (steps - 1)
                            : (steps - done) / steps;
    times_.push_back(process.options().continuous ? horizon * left : std::round(horizon * left));
  }
  times_.push_back(0);
}

int64_t SymbolSampler::calls() const {
  int64_t calls = options_.steps;
  for (size_t step = 0; step + 2 < times_.size(); ++step)
    if (times_[step] <= options_.sampling.corrector_from * process_.horizon())
      calls += options_.sampling.correctors;
  return calls;
}

SymbolSample SymbolSampler::run(const SymbolNetwork& network, const at::Tensor& samples,
                                at::IntArrayRef shape, const at::Tensor& given,
                                const at::Tensor& seeds, const at::Tensor& present,
                                const std::function<bool(const SymbolStep&)>& callback) const {
  require_labels(samples, "samples");
  const c10::NoGradGuard no_grad;
  return Run(process_, options_, times_, network, samples, shape, seeds, callback)
      .make(given, present);
}

}  // namespace tessera
