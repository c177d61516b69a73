#pragma once

#include <tessera/base/enum_names.h>
#include <tessera/process/boundary.h>
#include <tessera/process/trajectory.h>

#include <cstdint>
#include <string>

#include "config/config.h"

namespace tessera::flow {

// How the plane is divided between the codes.
enum class Cells {
  mosaic,  // a point belongs to the nearest code (affine scores)
  cones,   // codes of equal length, a point belongs to the largest dot product (linear scores)
};

}  // namespace tessera::flow

template <>
struct tessera::EnumNames<tessera::flow::Cells> {
  static constexpr std::string_view what = "kind of cells";
  static constexpr std::array<std::pair<flow::Cells, std::string_view>, 2> values{
      {{flow::Cells::mosaic, "mosaic"}, {flow::Cells::cones, "cones"}}};
};

namespace tessera::flow {

// The small network of the reverse paths, and how it learns.
struct TrainOptions {
  int64_t updates = 800;
  int64_t batch = 128;
  int64_t width = 64;  // of the three hidden layers
  double learning_rate = 2e-3;
  int64_t runs = 5;  // trainings for every r, each from its own seed
};

}  // namespace tessera::flow

namespace tessera {

// What `tessera flow` draws and measures.
struct FlowOptions {
  flow::Cells cells = flow::Cells::mosaic;
  int64_t codes = 7;
  TrajectoryOptions trajectory{.kind = TrajectoryKind::ot, .horizon = 1000};
  NoExit no_exit = NoExit::full;
  int64_t points = 1200;  // noisy points in every picture of a density
  flow::TrainOptions train;
  int64_t sampler_steps = 10;
  int64_t samples = 1000;  // to measure a share with
  uint64_t seed = 1;
};

void declare(config::Schema& schema, const std::string& prefix, FlowOptions& options);

}  // namespace tessera
