#include "symbols/declare.h"

namespace tessera {
namespace {

void declare_survival(config::Schema& schema, const std::string& prefix, SurvivalOptions& options) {
  schema.option(prefix + "schedule", options.kind,
                "how fast noise takes symbols away, from none at time 0 to nearly all at T");
  schema.option(prefix + "horizon", options.horizon, "T, the number of time steps")
      .range(1, 1000000);
  schema
      .option(prefix + "epsilon", options.epsilon,
              "share of the symbols that is left at T, for log-linear and cosine")
      .range(1e-9, 0.5);
  schema
      .option(prefix + "sigma_min", options.sigma_min,
              "for geometric: -ln of the share that is left at time 0")
      .above(0);
  schema
      .option(prefix + "sigma_max", options.sigma_max,
              "for geometric: -ln of the share that is left at T")
      .above(0);
  schema
      .option(prefix + "rate", options.rate, "for sqrt-cosine: -ln of the share that is left at T")
      .above(0);
}

// Options of noise for which symbols are ordered values, or one symbol is the mask.
void declare_values(config::Schema& schema, const std::string& prefix,
                    SymbolProcessOptions& options) {
  schema
      .option(prefix + "mask_value", options.mask_value,
              "for absorbing: a symbol that stands for the mask as well (128 in the released D3PM "
              "of images); -1: the mask is none of the symbols")
      .at_least(-1);
  schema
      .option(prefix + "first_variance", options.gaussian.first_variance,
              "for gaussian: variance of the first step, of values from -1 to 1")
      .above(0);
  schema
      .option(prefix + "last_variance", options.gaussian.last_variance,
              "for gaussian: variance of the last step; linear between them")
      .above(0);
  TargetRateOptions& rates = options.target_rate;
  schema
      .option(prefix + "reach", rates.reach,
              "for target-rate: about how many values a jump moves by")
      .above(0);
  schema
      .option(prefix + "target_width", rates.target_width,
              "for target-rate: standard deviation of the values at T")
      .above(0);
  schema
      .option(prefix + "rate_scale", rates.scale,
              "for target-rate: noise until time t is rate_scale * (rate_growth^(t / T) - 1)")
      .above(0);
  schema.option(prefix + "rate_growth", rates.growth, "for target-rate: see rate_scale").above(1);
}

}  // namespace

void declare(config::Schema& schema, const std::string& prefix, SymbolFamilyOptions& options) {
  SymbolProcessOptions& process = options.process;
  SymbolObjectiveOptions& objective = options.objective;
  schema.option(prefix + "noise", process.noise,
                "what noise does to a symbol: cover it with a mask (absorbing), put any symbol in "
                "its place (uniform), or of values in an order, such as pixels, a near one: in "
                "whole steps (gaussian: D3PM) or in continuous time (target-rate: tauLDR)");
  declare_survival(schema, prefix, process.survival);
  declare_values(schema, prefix, process);
  schema.option(prefix + "continuous", process.continuous,
                "times of training are any in (0, T]; false: whole steps");
  schema.option(prefix + "low_discrepancy", process.low_discrepancy,
                "times of a batch are spread evenly, so that the loss varies less");
  schema.option(prefix + "min_time", process.min_time, "earliest continuous time, as a share of T")
      .range(0, 0.5);
  schema.option(prefix + "reverse", process.reverse,
                "how an estimate becomes a step back: as if it were the clean symbol (plug-in), or "
                "the mean over all clean symbols (mean); the same for absorbing noise");
  schema.option(prefix + "first_term", process.first_term,
                "whole steps: the step to time 0 is taught the estimate itself, or what a reverse "
                "step makes of it");
  schema.option(prefix + "target", objective.target,
                "the bound of the likelihood, the cross-entropy at every position, score entropy "
                "(logits are ratios of probabilities), ratio matching (uniform noise), or the "
                "bound as it is estimated after one more jump (one-jump: tauLDR)");
  schema.option(prefix + "weight", objective.weight,
                "weight of a masked position in the bound: as the bound has it, the same at all "
                "times (flat), or 1 - t / T (linear)");
  schema
      .option(prefix + "cross_entropy_weight", objective.cross_entropy_weight,
              "weight of the cross-entropy at all positions that is added to the bound; the bound "
              "counts as a whole, in nats per symbol")
      .at_least(0);
  schema
      .option(prefix + "label_smoothing", objective.label_smoothing,
              "of cross-entropies: share of the probability spread over all symbols")
      .range(0, 1)
      .check([](double value) { return value < 1; }, "below 1");
  schema.option(prefix + "told_time", options.told_time, "whether the network is told the time");
}

}  // namespace tessera
