#include "flow/figures.h"

#include <tessera/process/boundary.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "drawing/chart.h"
#include "drawing/palette.h"
#include "drawing/svg.h"

namespace tessera::flow {

using drawing::Chart;
using drawing::kHues;
using drawing::number;
using drawing::Panel;
using drawing::Svg;

namespace {

std::string hue(std::string_view base, char kind, int64_t symbol) {
  return fmt::format("{} {}{}", base, kind, symbol % kHues);
}

using flow::on_panel;

std::vector<Point> on_panel(std::vector<Point> points) {
  for (Point& p : points) p = flow::on_panel(p);
  return points;
}

Process process_of(const FlowOptions& options, double r) {
  return Process({.trajectory = options.trajectory, .r = r, .no_exit = options.no_exit});
}

std::string r_text(double r) {
  return "r = " + number(r, 2);
}

void draw_codes(Svg& svg, const Scene& scene, double radius = 4.5) {
  for (int64_t k = 0; k < scene.symbols(); ++k)
    svg.circle(on_panel(scene.codes()[k]), radius, hue("code", 'f', k));
}

// A contour of a symbol's noisy points, fainter the earlier: t is `share` of T.
void draw_ring(Svg& svg, const std::vector<Point>& points, int64_t symbol, double share) {
  svg.polygon(on_panel(points), hue("ring", 's', symbol) + (share > 0.6   ? " early"
                                                            : share > 0.2 ? " middling"
                                                                          : ""));
}

// Every path as the list of its points at `times`.
std::vector<std::vector<Point>> trace(const Scene& scene, const Process& process,
                                      const Paths& paths, const std::vector<double>& times) {
  std::vector<std::vector<Point>> traced(static_cast<size_t>(paths.size()));
  for (const double t : times) {
    const auto points = positions(scene, process, paths, t);
    for (size_t i = 0; i < traced.size(); ++i) traced[i].push_back(points[i]);
  }
  return traced;
}

std::vector<double> times_between(double from, double to, int count) {
  std::vector<double> times;
  for (int k = 0; k <= count; ++k) times.push_back(from + (to - from) * k / count);
  return times;
}

Panel forward_panel(const Scene& scene, const FlowOptions& options, const Paths& paths, double r) {
  const double horizon = static_cast<double>(options.trajectory.horizon);
  const Process plain = process_of(options, 0), rescaled = process_of(options, r);
  const auto stop = stopping_time(plain.trajectory(), scene.codebook(), paths.x0, paths.eps,
                                  paths.labels, options.no_exit);
  const auto labels = to_numbers(paths.labels), t0 = to_numbers(stop.t0);
  const auto never = to_numbers(stop.no_exit);
  const auto all = times_between(0, horizon, 60);
  const auto original = trace(scene, plain, paths, all), used = trace(scene, rescaled, paths, all);
  const auto ticks = trace(scene, rescaled, paths, times_between(0, horizon, 4));
  // At t = 0 and r = 1 a path stands on its stopping point.
  const auto stops = positions(scene, process_of(options, 1), paths, 0);

  Svg svg;
  svg.raw(ground(scene, false));
  for (size_t i = 0; i < original.size(); ++i) {
    const auto symbol = static_cast<int64_t>(labels[i]);
    svg.polyline(on_panel(original[i]), hue("skipped", 's', symbol));
    svg.polyline(on_panel(used[i]), hue("path", 's', symbol));
  }
  draw_codes(svg, scene);
  for (size_t i = 0; i < original.size(); ++i) {
    const auto symbol = static_cast<int64_t>(labels[i]);
    for (const Point& p : ticks[i]) svg.circle(on_panel(p), 3.4, hue("tick", 'f', symbol));
    if (never[i] == 0 && t0[i] > 0) svg.circle(on_panel(stops[i]), 6, "stop");
  }
  return {r_text(r), svg.body()};
}

}  // namespace

Point on_panel(Point p) {
  constexpr double half = kPlane / 2;
  return {half + half * p.x / Scene::kExtent, half - half * p.y / Scene::kExtent};
}

std::string ground(const Scene& scene, bool with_names) {
  Svg svg;
  for (int64_t k = 0; k < scene.symbols(); ++k)
    svg.polygon(on_panel(scene.cells()[k]), hue("tile", 't', k));
  if (with_names) {
    draw_codes(svg, scene);
    for (int64_t k = 0; k < scene.symbols(); ++k) {
      const Point p = on_panel(scene.codes()[k]);
      svg.text({p.x, p.y - 10}, fmt::format("{}", k), "name");
    }
  }
  return svg.body();
}

Figure cells_figure(const Scene& mosaic, const Scene& cones) {
  Figure figure{"cells", "A symbol is a cell, not a point", {}, 2};
  figure.panels.push_back({"Nearest code", ground(mosaic, true)});
  figure.panels.push_back({"Largest dot product, codes of equal length", ground(cones, true)});
  return figure;
}

Figure forward_figure(const Scene& scene, const FlowOptions& options) {
  Figure figure{"forward", "Forward paths and their stopping points", {}, 3};
  const Paths paths = showcase_paths(scene, Trajectory(options.trajectory), options.seed);
  for (const double r : {0.0, 0.5, 1.0})
    figure.panels.push_back(forward_panel(scene, options, paths, r));
  return figure;
}

Figure clock_figure(const Scene& scene, const FlowOptions& options) {
  const Trajectory trajectory(options.trajectory);
  const double horizon = trajectory.horizon();
  const Paths paths = showcase_paths(scene, trajectory, options.seed);
  const at::Tensor stop =
      stopping_time(trajectory, scene.codebook(), paths.x0, paths.eps, paths.labels).t0;
  const double t0 = to_numbers(stop)[0];

  Chart chart(420, 290, horizon, horizon);
  for (const double share : {0.0, 0.5, 1.0}) {
    const std::string text = share == 0 ? "0" : share == 1 ? "T" : "½ T";
    chart.x_tick(share * horizon, text);
    chart.y_tick(share * horizon, text);
  }
  chart.axis("t, what the network is told", "τ, where on its path the point is");
  const std::pair<double, const char*> lines[] = {{0.0, "plain"}, {0.5, "half"}, {1.0, "boundary"}};
  for (const auto& [r, colour] : lines) {
    const Clock clock(r, horizon);
    const auto tau = [&](double t) {
      return to_numbers(clock.tau(stop.new_full({1}, t), stop.slice(0, 0, 1)))[0];
    };
    chart.svg.polyline({chart.at(0, tau(0)), chart.at(horizon, tau(horizon))},
                       fmt::format("curve {}", colour));
    // The label stands on its line, with a gap in the line behind it.
    const Point p = chart.at(0.3 * horizon, tau(0.3 * horizon));
    chart.svg.text({p.x, p.y + 4}, r_text(r), fmt::format("chart middle label {}-fill", colour));
  }
  chart.svg.circle(chart.at(0, t0), 6, "stop");
  Figure figure{"clock", "The rescaled clock of one path", {}, 1};
  figure.panels.push_back({"One path, three clocks", chart.svg.body(), 420, 290});
  return figure;
}

Figure contours_figure(const Scene& scene, const FlowOptions& options) {
  const int64_t symbol = middle_code(scene);
  Figure figure{"contours", "A contour of the noisy points of one code, from T to 0", {}, 2};
  const double horizon = static_cast<double>(options.trajectory.horizon);
  const Paths paths = contour_paths(scene, symbol, kContourRadius, kContourPoints);
  for (const double r : {0.0, 1.0}) {
    Svg svg;
    svg.raw(ground(scene, false));
    for (const double share : {1.0, 0.75, 0.5, 0.25, 0.1, 0.0})
      draw_ring(svg, positions(scene, process_of(options, r), paths, share * horizon), symbol,
                share);
    svg.circle(on_panel(scene.codes()[symbol]), 4.5, hue("code", 'f', symbol));
    figure.panels.push_back({r_text(r), svg.body()});
  }
  return figure;
}

Figure learnt_contours_figure(const Scene& scene, const Comparison& comparison) {
  Figure figure{"learnt", "The same contours as the trained networks have them", {}, 2};
  for (const LearningCurve* curve : {&comparison.plain, &comparison.boundary}) {
    Svg svg;
    svg.raw(ground(scene, false));
    const size_t rings = curve->rings.size();
    for (size_t k = 0; k < rings; ++k)
      draw_ring(svg, curve->rings[k], curve->ringed,
                1 - static_cast<double>(k) / static_cast<double>(rings));
    svg.circle(on_panel(scene.codes()[curve->ringed]), 4.5, hue("code", 'f', curve->ringed));
    figure.panels.push_back({r_text(curve->r) + ", learnt", svg.body()});
  }
  return figure;
}

Figure density_figure(const Scene& scene, const FlowOptions& options) {
  Figure figure{"density", "Noisy points of all codes, from T to 0", {}, 4};
  const double horizon = static_cast<double>(options.trajectory.horizon);
  const Paths paths = random_paths(scene, options.points, {options.seed, Purpose::picture, 3});
  const auto labels = to_numbers(paths.labels);
  for (const double r : {0.0, 1.0}) {
    const Process process = process_of(options, r);
    for (const double share : {0.7, 0.3, 0.1, 0.02}) {
      const auto points = on_panel(positions(scene, process, paths, share * horizon));
      std::vector<std::vector<Point>> of_symbol(static_cast<size_t>(scene.symbols()));
      for (size_t i = 0; i < points.size(); ++i) {
        const bool visible =
            points[i].x > 0 && points[i].x < kPlane && points[i].y > 0 && points[i].y < kPlane;
        if (visible) of_symbol[static_cast<size_t>(labels[i])].push_back(points[i]);
      }
      Svg svg;
      svg.raw(ground(scene, false));
      for (int64_t k = 0; k < scene.symbols(); ++k) svg.dots(of_symbol[k], hue("dots", 's', k));
      figure.panels.push_back(
          {fmt::format("{}, t = {} T", r_text(r), number(share, 2)), svg.body()});
    }
  }
  return figure;
}

Figure reverse_figure(const Scene& scene, const Comparison& comparison) {
  Figure figure{"reverse", "Reverse paths of the trained networks", {}, 2};
  for (const LearningCurve* curve : {&comparison.plain, &comparison.boundary}) {
    Svg svg;
    svg.raw(ground(scene, false));
    int64_t right = 0;
    for (const ReversePath& path : curve->paths) {
      const auto points = on_panel(path.points);
      svg.polyline(points, hue("trail", 's', path.wanted));
      svg.line(points.back(), on_panel(path.end), hue("hop", 's', path.wanted));
      if (path.landed == path.wanted) ++right;
    }
    for (const ReversePath& path : curve->paths)
      if (path.landed == path.wanted)
        svg.circle(on_panel(path.end), 4.2, hue("code", 'f', path.wanted));
    for (const ReversePath& path : curve->paths) {
      if (path.landed == path.wanted) continue;
      svg.cross(on_panel(path.end), 3.8, "halo");
      svg.cross(on_panel(path.end), 3.8, "wrong");
    }
    figure.panels.push_back({fmt::format("{}: {} of these {} end in the right cell",
                                         r_text(curve->r), right, curve->paths.size()),
                             svg.body()});
  }
  return figure;
}

Figure learning_figure(const Comparison& comparison, double chance) {
  const auto& updates = comparison.plain.updates;
  const auto last = static_cast<double>(updates.back());
  Chart chart(480, 300, last, 1.0);
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
    chart.y_tick(share, fmt::format("{:.0f} %", 100 * share));
  for (const double share : {0.0, 0.25, 0.5, 0.75, 1.0})
    chart.x_tick(share * last, number(share * last, 0));
  chart.axis("updates of the network", "share of samples in the right cell");
  chart.svg.line(chart.at(0, chance), chart.at(last, chance), "skipped axis");
  chart.svg.text(chart.at(0.995 * last, chance - 0.055), "chance", "chart end faint");

  const std::pair<const LearningCurve*, const char*> curves[] = {
      {&comparison.plain, "plain"}, {&comparison.boundary, "boundary"}};
  for (const auto& [curve, colour] : curves) {
    std::vector<Point> mean, above, below;
    for (size_t k = 0; k < updates.size(); ++k) {
      const auto x = static_cast<double>(updates[k]);
      const double error = curve->standard_error(k);
      mean.push_back(chart.at(x, curve->mean(k)));
      above.push_back(chart.at(x, std::min(1.0, curve->mean(k) + error)));
      below.push_back(chart.at(x, std::max(0.0, curve->mean(k) - error)));
    }
    std::vector<Point> band = above;
    band.insert(band.end(), below.rbegin(), below.rend());
    chart.svg.polygon(band, fmt::format("band {}-fill", colour));
    for (const auto& run : curve->shares) {
      std::vector<Point> points;
      for (size_t k = 0; k < updates.size(); ++k)
        points.push_back(chart.at(static_cast<double>(updates[k]), run[k]));
      chart.svg.polyline(points, fmt::format("run {}", colour));
    }
    chart.svg.polyline(mean, fmt::format("curve {}", colour));
  }
  // The names stand where the curves are furthest apart.
  size_t widest = 0;
  const auto gap = [&](size_t k) {
    return std::abs(comparison.boundary.mean(k) - comparison.plain.mean(k));
  };
  for (size_t k = 0; k < updates.size(); ++k)
    if (gap(k) > gap(widest)) widest = k;
  const bool boundary_above = comparison.boundary.mean(widest) >= comparison.plain.mean(widest);
  for (const auto& [curve, colour] : curves) {
    const bool above = (curve == &comparison.boundary) == boundary_above;
    const Point p = chart.at(static_cast<double>(updates[widest]), curve->mean(widest));
    chart.svg.text({p.x + (above ? -12 : 12), p.y + (above ? -8 : 18)}, r_text(curve->r),
                   fmt::format("chart label {}-fill{}", colour, above ? " end" : ""));
  }
  Figure figure{"learning", "How fast the networks learn to land in the right cell", {}, 1};
  figure.panels.push_back(
      {"Mean of the runs, its standard error, and every run", chart.svg.body(), 480, 300});
  return figure;
}

}  // namespace tessera::flow
