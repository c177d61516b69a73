#include "flow/figures.h"

#include <tessera/base/random.h>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "drawing/palette.h"
#include "drawing/svg.h"

namespace tessera::flow {
namespace {

using drawing::kHues;
using drawing::Svg;
using Walks = std::vector<std::vector<Point>>;  // of every path, its points

constexpr int64_t kSteps = 160;  // of a random walk

// Where paths are after every step of a Markov chain with the marginals of the trajectory:
// x <- (u'/u) x + sqrt(v'^2 - (u'/u)^2 v^2) z.
Walks random_walks(const Paths& paths, const Trajectory& trajectory, const StreamId& stream) {
  const at::Tensor samples =
      at::arange(paths.size(), at::TensorOptions().dtype(at::kLong).device(paths.x0.device()));
  const at::Tensor steps =
      random_normal(stream, samples, {kSteps, 2}).to(paths.x0.scalar_type());  // [N, steps, 2]
  at::Tensor x = paths.x0;
  Walks walks(static_cast<size_t>(paths.size()));
  const auto note = [&] {
    const auto points = to_points(x);
    for (size_t i = 0; i < walks.size(); ++i) walks[i].push_back(points[i]);
  };
  note();
  double u = 1, v = 0;
  for (int64_t k = 1; k <= kSteps; ++k) {
    const double t = trajectory.horizon() * static_cast<double>(k) / kSteps;
    const double next_u = trajectory.u(t), next_v = trajectory.v(t), kept = next_u / u;
    const double added = std::sqrt(std::max(0.0, next_v * next_v - kept * kept * v * v));
    x = kept * x + added * steps.select(1, k - 1);
    note();
    u = next_u;
    v = next_v;
  }
  return walks;
}

Walks curves(const Paths& paths, const Trajectory& trajectory) {
  Walks walks(static_cast<size_t>(paths.size()));
  for (int64_t k = 0; k <= kSteps; ++k) {
    const double t = trajectory.horizon() * static_cast<double>(k) / kSteps;
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
  for (size_t i = 0; i < walks.size(); ++i) {
    const auto symbol = static_cast<int64_t>(labels[i]) % kHues;
    std::vector<Point> line;
    for (const Point& p : walks[i]) line.push_back(on_panel(p));
    svg.polyline(line, fmt::format("path s{}", symbol));
    svg.circle(line.front(), 4.5, fmt::format("code f{}", symbol));
    svg.circle(line.back(), 3.4, fmt::format("tick f{}", symbol));
  }
  return {title, svg.body()};
}

}  // namespace

Figure trajectory_figure(const Scene& scene, const FlowOptions& options) {
  const Trajectory preserving("vp-sqrt", options.trajectory.horizon);
  const Trajectory straight("ot", options.trajectory.horizon);
  Paths paths = showcase_paths(scene, straight, options.seed);
  const Walks walks = random_walks(paths, preserving, {options.seed, Purpose::picture, 5});
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
