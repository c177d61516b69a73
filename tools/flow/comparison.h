#pragma once

#include <cstddef>
#include <vector>

#include "flow/options.h"
#include "flow/planar_model.h"
#include "flow/scene.h"

namespace tessera::flow {

// How the share of right answers grows while networks of one r learn.
struct LearningCurve {
  double r = 0;
  std::vector<int64_t> updates;             // after which it was measured
  std::vector<std::vector<double>> shares;  // [run][measurement]
  std::vector<ReversePath> paths;           // of the first run, at measurement `pictured`
  size_t pictured = 0;
  int64_t ringed = 0;                     // the code whose contours `rings` are
  std::vector<std::vector<Point>> rings;  // of the first run, after all updates

  // The first number of updates at which the mean reaches `share`; 0: never.
  int64_t updates_to_reach(double share) const;

  double mean(size_t measurement) const;
  double standard_error(size_t measurement) const;  // of the mean, over runs
};

// Plain diffusion (r = 0) against paths from the border (r = 1), the same in everything else: each
// run has the same first weights, questions, noise and times for both.
struct Comparison {
  LearningCurve plain, boundary;
};

Comparison compare(const Scene& scene, const FlowOptions& options);

}  // namespace tessera::flow
