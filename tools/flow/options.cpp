#include "flow/options.h"

namespace tessera {

void declare(config::Schema& schema, const std::string& prefix, FlowOptions& options) {
  schema.option(prefix + "cells", options.cells,
                "how the plane is divided: by the nearest code, or into cones of equal codes");
  schema.option(prefix + "codes", options.codes, "number of codes in the plane").range(3, 16);
  schema.option(prefix + "trajectory", options.trajectory.kind, "path from a code to noise");
  schema.option(prefix + "horizon", options.trajectory.horizon, "T, steps of a path")
      .range(100, 100000);
  schema.option(prefix + "no_exit", options.no_exit,
                "stopping time of a path that never leaves its cell");
  schema.option(prefix + "points", options.points, "noisy points in every picture of a density")
      .range(10, 20000);
  schema.option(prefix + "train.updates", options.train.updates, "updates of the small network")
      .range(8, 100000);
  schema.option(prefix + "train.batch", options.train.batch, "questions in an update")
      .range(1, 65536);
  schema.option(prefix + "train.width", options.train.width, "width of its three hidden layers")
      .range(4, 4096);
  schema
      .option(prefix + "train.learning_rate", options.train.learning_rate,
              "of AdamW, after a warm-up")
      .above(0);
  schema
      .option(prefix + "train.runs", options.train.runs,
              "trainings for every r, each from its own seed")
      .range(2, 100);
  schema.option(prefix + "sampler.steps", options.sampler_steps, "network calls of a reverse path")
      .range(1, 100);
  schema
      .option(prefix + "sampler.samples", options.samples, "reverse paths a share is measured with")
      .range(10, 1000000);
  schema.option(prefix + "seed", options.seed, "seed of all random numbers; --seed is its default");
}

}  // namespace tessera
