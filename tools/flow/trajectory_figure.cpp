#include "flow/figures.h"

#include <tessera/tensor/random.h>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "drawing/palette.h"
#include "drawing/svg.h"

namespace tessera::flow {
namespace {

using drawing::kHues;
using drawing::Svg;
using Walks = std::vector<std::vector<Point>>;  // the points of every path

constexpr int64_t kWalkSteps = 60;     // of a random walk
constexpr double kForgotten = 3;       // it ends where u is exp(-3): little is left of the code
constexpr int64_t kCurvePoints = 160;  // enough for a curve to look like one
constexpr int64_t kEvery = 3;          // of the paths shown elsewhere: all walks would be a tangle

// Where paths are after every step of a Markov chain with variance-preserving marginals:
// x <- k x + sqrt(1 - k^2) z, with the same k in every step.
Walks random_walks(const Paths& paths, const StreamId& stream) {
  const at::Tensor samples =
      at::arange(paths.size(), at::TensorOptions().dtype(at::kLong).device(paths.x0.device()));
  const at::Tensor steps =
      random_normal(stream, samples, {kWalkSteps, 2}).to(paths.x0.scalar_type());  // [N, steps, 2]
  at::Tensor x = paths.x0;
  Walks walks(static_cast<size_t>(paths.size()));
  const auto note = [&] {
    const auto points = to_points(x);
    for (size_t i = 0; i < walks.size(); ++i) walks[i].push_back(points[i]);
  };
  note();
  const double kept = std::exp(-kForgotten / kWalkSteps), added = std::sqrt(1 - kept * kept);
  for (int64_t k = 0; k < kWalkSteps; ++k) {
    x = kept * x + added * steps.select(1, k);
    note();
  }
  return walks;
}

Walks curves(const Paths& paths, const Trajectory& trajectory) {
  Walks walks(static_cast<size_t>(paths.size()));
  for (int64_t k = 0; k <= kCurvePoints; ++k) {
    const double t = trajectory.horizon() * static_cast<double>(k) / kCurvePoints;
    const auto points = to_points(trajectory.u(t) * paths.x0 + trajectory.v(t) * paths.eps);
    for (size_t i = 0; i < walks.size(); ++i) walks[i].push_back(points[i]);
  }
  return walks;
}

drawing::Panel panel(const Scene& scene, const std::string& title, const Paths& paths,
                     const Walks& walks) {
  const auto labels = to_numbers(paths.labels);
  Svg svg;
  svg.raw(ground(scene, false));
  const auto symbol = [&](size_t i) { return static_cast<int64_t>(labels[i]) % kHues; };
  for (size_t i = 0; i < walks.size(); ++i) {
    std::vector<Point> line;
    for (const Point& p : walks[i]) line.push_back(on_panel(p));
    svg.polyline(line, fmt::format("path s{}", symbol(i)));
  }
  for (size_t i = 0; i < walks.size(); ++i) {
    svg.circle(on_panel(walks[i].front()), 4.5, fmt::format("code f{}", symbol(i)));
    svg.circle(on_panel(walks[i].back()), 3.4, fmt::format("tick f{}", symbol(i)));
  }
  return {title, svg.body()};
}

}  // namespace

Figure trajectory_figure(const Scene& scene, const FlowOptions& options) {
  const Trajectory preserving("vp-sqrt", options.trajectory.horizon);
  const Trajectory straight("ot", options.trajectory.horizon);
  Paths paths = showcase_paths(scene, straight, options.seed);
  for (at::Tensor* part : {&paths.labels, &paths.x0, &paths.eps})
    *part = part->slice(0, 0, std::nullopt, kEvery);
  const Walks walks = random_walks(paths, {options.seed, Purpose::picture, 5});
  // The others go to where the walks have ended.
  std::vector<double> ends;
  for (const auto& walk : walks) ends.insert(ends.end(), {walk.back().x, walk.back().y});
  paths.eps = at::tensor(ends, at::kDouble).reshape({-1, 2}).to(paths.eps.options());
  Figure figure{"trajectories", "Three ways from a code to noise", {}, 3};
  figure.panels.push_back(panel(scene, "Markovian: a random walk", paths, walks));
  figure.panels.push_back(panel(scene, "Deterministic: a curve", paths, curves(paths, preserving)));
  figure.panels.push_back(
      panel(scene, "Optimal transport: a straight line", paths, curves(paths, straight)));
  return figure;
}

}  // namespace tessera::flow
