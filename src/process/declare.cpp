#include "process/declare.h"

namespace tessera {

void declare(config::Schema& schema, const std::string& prefix, ProcessOptions& options) {
  schema.option(prefix + "trajectory", options.trajectory.kind,
                "how a clean point becomes noise along its path");
  schema.option(prefix + "horizon", options.trajectory.horizon, "T, the number of time steps")
      .range(1, 1000000);
  schema.option(prefix + "sigma_min", options.trajectory.sigma_min, "noise at time 0, for ve")
      .above(0);
  schema.option(prefix + "sigma_max", options.trajectory.sigma_max, "noise at time T, for ve")
      .above(0);
  schema
      .option(prefix + "r", options.r,
              "confidence factor: 0 is plain diffusion, 1 starts every path on the border of "
              "its cell")
      .range(0, 1);
  schema
      .option(prefix + "noise_factor", options.noise_factor,
              "F: the noise of training is F times a standard normal")
      .above(0);
  schema.option(prefix + "no_exit", options.no_exit,
                "stopping time of paths that never leave their cell: full is T, zero is 0");
  schema.option(prefix + "exact_index", options.exact_index,
                "use the integer arithmetic of the paper's listing (VP only, for comparison)");
  schema
      .option(prefix + "min_time", options.min_time,
              "earliest time of training, as a share of the horizon; above 0, times are real "
              "numbers and not whole steps")
      .range(0, 1)
      .check([](double value) { return value < 1; }, "below 1");
  schema.option(
      prefix + "min_time_from_codes", options.min_time_from_codes,
      "earliest time of training from the codes: the time at which noise is as large as their "
      "spacing, computed anew at every update (Dinoiser); spacing-plus-one: a little later");
}

void declare(config::Schema& schema, const std::string& prefix, AdaptiveScheduleOptions& options) {
  schema
      .option(prefix + "stride", options.stride,
              "updates between two changes of a schedule of noise that training makes for every "
              "position, so that errors grow evenly with time (SeqDiffuSeq; needs process.r = 0); "
              "0: the schedule does not change")
      .at_least(0);
  schema.option(prefix + "start", options.start, "updates before the first change of that schedule")
      .at_least(0);
  schema.option(prefix + "bin", options.bin, "time steps whose errors are counted together")
      .range(1, 1000000);
  schema
      .option(prefix + "positions", options.positions,
              "positions that have a schedule of their own; later ones share the last")
      .range(1, 65536);
}

void declare_error(config::Schema& schema, const std::string& prefix, ObjectiveOptions& options) {
  schema.option(prefix + "target", options.target,
                "quantity whose squared error is taken: the clean point, the rescaled velocity, or "
                "the noise (DDPM)");
  schema.option(prefix + "dims", options.dims,
                "how the squared error is taken over the dimensions of a point");
  schema.option(prefix + "mse_weight", options.mse_weight, "weight of the squared error")
      .at_least(0);
  schema
      .option(prefix + "velocity_cap", options.velocity_cap,
              "largest weight of an element when the target is the velocity or the noise")
      .above(0);
  schema
      .option(prefix + "terminal_weight", options.terminal_weight,
              "weight of the mean square of what noise leaves of the codes at the horizon")
      .at_least(0);
}

void declare_rounding(config::Schema& schema, const std::string& prefix,
                      ObjectiveOptions& options) {
  schema
      .option(prefix + "cross_entropy_weight", options.cross_entropy_weight,
              "weight of the cross-entropy of rounding the estimate to a symbol")
      .at_least(0);
  schema.option(prefix + "rounding", options.rounding,
                "point whose cross-entropy is taken: the estimate, or the clean codes, as they are "
                "or with the noise of the first step (the estimate then learns from the squared "
                "error alone)");
  schema
      .option(prefix + "logit_scale", options.logit_scale,
              "points are multiplied by it before they are scored for the cross-entropy; with "
              "codes of length sqrt(d), 1/sqrt(d) lets estimates become as long as codes")
      .above(0);
}

void declare_smoothing(config::Schema& schema, const std::string& prefix,
                       ObjectiveOptions& options) {
  schema
      .option(prefix + "label_smoothing", options.label_smoothing,
              "share of the probability spread over all symbols that can be decoded")
      .range(0, 1)
      .check([](double value) { return value < 1; }, "below 1");
}

void declare_steps(config::Schema& schema, const std::string& prefix, SamplerOptions& options) {
  schema
      .option(prefix + "steps", options.steps,
              "number of sampling steps, at most the horizon; more steps take longer")
      .at_least(1);
  schema.option(prefix + "self_conditioning", options.self_conditioning,
                "show the network its last estimate");
  schema.option(prefix + "seed", options.seed,
                "seed of the noise that validation draws; commands take --seed");
}

void declare_paths(config::Schema& schema, const std::string& prefix, SamplerOptions& options) {
  schema.option(prefix + "grid", options.grid, "how the steps are spread over time");
  schema.option(prefix + "skip_last", options.skip_last, "steps left out at the end of the grid")
      .at_least(0);
  schema
      .option(prefix + "r", options.r,
              "confidence factor of sampling: 0 is plain diffusion, 1 starts at the borders of the "
              "cells; none: that of training")
      .range(0, 1);
  schema.option(
      prefix + "rescale_reverse", options.rescale_reverse,
      "follow the rescaled clock; false is the paper's \"forward only\", the same as r = 0");
  schema.option(prefix + "alter", options.alter,
                "recompute the noise end of the path at every step; false keeps the path fixed");
  schema.option(
      prefix + "clock", options.clock,
      "rescaled time of a position in sampling: computed anew at each step (absolute), or "
      "moved by its speed (velocity)");
  schema.option(prefix + "noise", options.noise,
                "noise added on the way: none, gaussian, or as the paper prints it");
  schema.option(prefix + "eta", options.eta, "amount of that noise; 1 is ancestral sampling")
      .range(0, 1);
  schema.option(prefix + "variance", options.variance,
                "variance of gaussian noise: that of the posterior, or the large one of DDPM");
  schema.option(prefix + "boundary_of", options.boundary_of,
                "take the stopping time of the estimate itself, or of the code it decodes to");
  schema
      .option(prefix + "clip", options.clip, "clamp the estimate to [-clip, clip]; 0: do not clamp")
      .at_least(0);
  schema.option(prefix + "final_call", options.final_call,
                "call the network once more at the end, at t = 1, from the last state");
  schema
      .option(prefix + "time_difference", options.time_difference,
              "steps by which the state is ahead of the time that the network is told (asymmetric "
              "steps)")
      .range(0, 1000);
  schema
      .option(prefix + "state_end", options.state_end,
              "time at which the uniform grid ends, as a share of the horizon")
      .range(0, 1)
      .check([](double value) { return value < 1; }, "below 1");
  schema
      .option(prefix + "told_end", options.told_end,
              "the network is told times of another grid, which ends at this share of the horizon "
              "(CEDI); none: it is told the time of the state")
      .range(0, 1)
      .check([](const std::optional<double>& value) { return !value || *value > 0; }, "above 0");
  schema.option(prefix + "noise_of", options.noise_of,
                "time at which the noise end of the path is recomputed: that of the state, or the "
                "one that the network is told (CEDI)");
  schema
      .option(prefix + "noise_factor", options.noise_factor,
              "F of decoding: noise is F times a standard normal")
      .above(0);
  schema.option(prefix + "estimate", options.estimate,
                "point that a path is built from: the network's estimate (raw), the mean of the "
                "codes weighted by its scores (mean), the nearest code (nearest), or the estimate "
                "scaled to a code's length (rescaled)");
}

void declare(config::Schema& schema, const std::string& prefix, SymbolSampling& options) {
  schema.option(prefix + "predictor", options.predictor,
                "a step of symbols: drawn from the reverse process (ancestral), by its rates "
                "(euler), or by numbers of jumps (tau-leaping), which add up for values in an "
                "order, such as pixels; of other symbols the first counts");
  schema.option(prefix + "order", options.order,
                "which masks get their symbols first: as the reverse process has it (random), or "
                "the surest, others being masked again (confidence: Mask-Predict)");
  schema
      .option(prefix + "temperature", options.temperature,
              "for drawing symbols: higher values vary more; 0: the likeliest")
      .range(0, 1000);
  schema.option(prefix + "likeliest_last", options.likeliest_last,
                "take the likeliest symbols in the last step");
  schema
      .option(prefix + "correctors", options.correctors,
              "corrector steps after every step, at the same time; each is a network call")
      .range(0, 61);
  schema
      .option(prefix + "corrector_size", options.corrector_size,
              "length of a corrector step, in sampling steps")
      .above(0);
  schema
      .option(prefix + "corrector_from", options.corrector_from,
              "corrector steps follow only steps that begin at this share of the horizon or below")
      .range(0, 1);
  schema
      .option(prefix + "last_time", options.last_time,
              "time at which the last step begins, as a share of the horizon (continuous times); "
              "0: all steps are equally long")
      .range(0, 1)
      .check([](double value) { return value < 1; }, "below 1");
}

}  // namespace tessera
