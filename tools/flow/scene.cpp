#include "flow/scene.h"

#include "base/require.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::flow {
namespace {

constexpr double kTurn = 2 * std::numbers::pi;
constexpr double kGoldenTurn = kTurn * (1 - 1 / std::numbers::phi);

// Codes of the mosaic: a sunflower, whose seeds have about the same distance everywhere, slightly
// shaken.
at::Tensor sunflower(int64_t count, RandomStream& random) {
  constexpr double radius = 2.05, shake = 0.13;
  const at::Tensor codes = at::empty({count, 2}, at::kFloat);
  const double turned = kTurn * random.uniform();
  for (int64_t k = 0; k < count; ++k) {
    const double length = radius * std::sqrt((k + 0.3) / count);
    const double angle = turned + kGoldenTurn * k;
    codes[k][0] = length * std::cos(angle) + shake * random.normal();
    codes[k][1] = length * std::sin(angle) + shake * random.normal();
  }
  return codes;
}

// Codes of the cones: directions around the circle, not quite evenly spaced.
at::Tensor directions(int64_t count, RandomStream& random) {
  const at::Tensor codes = at::empty({count, 2}, at::kFloat);
  const double turned = kTurn * random.uniform();
  for (int64_t k = 0; k < count; ++k) {
    const double angle = turned + kTurn * (k + 0.45 * (random.uniform() - 0.5)) / count;
    codes[k][0] = std::cos(angle);
    codes[k][1] = std::sin(angle);
  }
  return codes;
}

EmbeddingTable make_table(Cells cells, int64_t count, uint64_t seed, at::Device device) {
  RandomStream random({seed, Purpose::picture, 0}, static_cast<uint64_t>(cells));
  if (cells == Cells::cones)
    return EmbeddingTable(directions(count, random).to(device), {.normalise = Normalise::l2});
  const at::Tensor codes = sunflower(count, random).to(device);
  return EmbeddingTable(codes, {.normalise = Normalise::none}, -codes.square().sum(-1) / 2);
}

// The part of a convex polygon where slope . p + offset >= 0.
Polygon clip(const Polygon& polygon, Point slope, double offset) {
  const auto height = [&](Point p) { return slope.x * p.x + slope.y * p.y + offset; };
  Polygon inside;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point from = polygon[i], to = polygon[(i + 1) % polygon.size()];
    const double before = height(from), after = height(to);
    if (before >= 0) inside.push_back(from);
    if ((before >= 0) != (after >= 0)) {
      const double share = before / (before - after);
      inside.push_back({from.x + share * (to.x - from.x), from.y + share * (to.y - from.y)});
    }
  }
  return inside;
}

// The cells, read off the scores: f(x, j) is affine, so three points tell all about it.
std::vector<Polygon> find_cells(const Codebook& codebook) {
  const at::Tensor probes =
      at::tensor({0.0, 0.0, 1.0, 0.0, 0.0, 1.0}, at::kDouble).reshape({3, 2}).to(codebook.device());
  const at::Tensor scores = codebook.scores(probes).cpu().contiguous();
  const auto score = scores.accessor<double, 2>();
  constexpr double edge = Scene::kExtent;
  std::vector<Polygon> cells;
  for (int64_t i = 0; i < codebook.symbols(); ++i) {
    Polygon cell = {{-edge, -edge}, {edge, -edge}, {edge, edge}, {-edge, edge}};
    for (int64_t j = 0; j < codebook.symbols(); ++j) {
      if (j == i) continue;
      const double offset = score[0][i] - score[0][j];
      cell = clip(cell, {score[1][i] - score[1][j] - offset, score[2][i] - score[2][j] - offset},
                  offset);
    }
    cells.push_back(std::move(cell));
  }
  return cells;
}

double distance(Point p, Point q) {
  return std::hypot(p.x - q.x, p.y - q.y);
}

// Whether the segments a-b and c-d cross.
bool cross(Point a, Point b, Point c, Point d) {
  const auto side = [](Point p, Point q, Point r) {
    return (q.x - p.x) * (r.y - p.y) - (q.y - p.y) * (r.x - p.x) > 0;
  };
  return side(a, b, c) != side(a, b, d) && side(c, d, a) != side(c, d, b);
}

Paths paths_of(const Scene& scene, const at::Tensor& labels, const at::Tensor& eps) {
  return {labels, scene.codebook().encode(labels), eps};
}

}  // namespace

Scene::Scene(Cells cells, int64_t codes, uint64_t seed, at::Device device)
    : kind_(cells),
      table_(make_table(cells, codes, seed, device)),
      codes_(to_points(table_.codes())),
      cells_(find_cells(table_)) {}

int64_t middle_code(const Scene& scene) {
  const auto& codes = scene.codes();
  const auto nearest = std::ranges::min_element(
      codes, {}, [](const Point& code) { return std::hypot(code.x, code.y); });
  return nearest - codes.begin();
}

Paths random_paths(const Scene& scene, int64_t count, const StreamId& stream) {
  const at::Tensor rows =
      at::arange(count, at::TensorOptions(at::kLong).device(scene.codebook().device()));
  return paths_of(scene, rows.remainder(scene.symbols()), random_normal(stream, rows, {2}));
}

Paths contour_paths(const Scene& scene, int64_t label, double radius, int64_t count) {
  const at::Device device = scene.codebook().device();
  const at::Tensor angle = at::arange(count, at::TensorOptions(at::kFloat).device(device)) *
                           (kTurn / static_cast<double>(count));
  return paths_of(scene, at::full({count}, label, at::TensorOptions(at::kLong).device(device)),
                  radius * at::stack({at::cos(angle), at::sin(angle)}, -1));
}

Paths showcase_paths(const Scene& scene, const Trajectory& trajectory, uint64_t seed) {
  const int64_t symbols = scene.symbols();
  const Paths drawn = random_paths(scene, symbols * 100, {seed, Purpose::picture, 1});
  const auto stop = stopping_time(trajectory, scene.codebook(), drawn.x0, drawn.eps, drawn.labels);
  const auto fraction = to_numbers(stop.t0 / trajectory.horizon());
  const auto never = to_numbers(stop.no_exit);
  const auto ends = to_points(drawn.eps), starts = to_points(drawn.x0);
  const Process border({.trajectory = trajectory.options(), .r = 1.0});
  const auto stops = positions(scene, border, drawn, 0);

  std::vector<int64_t> chosen;
  // How clear of the paths chosen so far a path is: crossings count most, then the distance of its
  // stopping point and its end from theirs.
  const auto clearance = [&](int64_t i) {
    double nearest = Scene::kExtent, crossings = 0;
    for (const int64_t j : chosen) {
      nearest = std::min({nearest, distance(stops[i], stops[j]), distance(ends[i], ends[j])});
      crossings += cross(starts[i], ends[i], starts[j], ends[j]);
    }
    for (const Point& code : scene.codes())
      nearest = std::min({nearest, distance(stops[i], code), distance(ends[i], code)});
    return nearest - 2 * Scene::kExtent * crossings;
  };
  const auto choose = [&](int64_t symbol, const auto& wanted) {
    int64_t best = -1;
    for (int64_t i = symbol; i < drawn.size(); i += symbols) {
      const double reach = std::max(std::abs(ends[i].x), std::abs(ends[i].y));
      if (reach > 0.9 * Scene::kExtent || !wanted(i, distance(starts[i], ends[i]))) continue;
      if (best < 0 || clearance(i) > clearance(best)) best = i;
    }
    if (best >= 0) chosen.push_back(best);
  };
  for (int64_t symbol = 0; symbol < symbols - 1; ++symbol)
    choose(symbol, [&](int64_t i, double length) {
      return never[i] == 0 && fraction[i] > 0.2 && fraction[i] < 0.7 && length > 1.2;
    });
  // The last code lies far out, where cells are wide.
  choose(symbols - 1, [&](int64_t i, double length) { return never[i] != 0 && length > 0.5; });
  if (chosen.empty()) chosen.push_back(0);  // any path is better than none

  const at::Tensor rows = at::tensor(chosen, at::kLong).to(drawn.labels.device());
  return {drawn.labels.index_select(0, rows), drawn.x0.index_select(0, rows),
          drawn.eps.index_select(0, rows)};
}

std::vector<Point> positions(const Scene& scene, const Process& process, const Paths& paths,
                             double t) {
  const at::Tensor time = at::full({paths.size()}, t, paths.x0.options());
  return to_points(process.noise(scene.codebook(), paths.x0, paths.labels, paths.eps, time).x);
}

double share_inside(const Scene& scene, const Process& process, uint64_t seed) {
  const StreamId stream{seed, Purpose::picture, 5};
  const Paths paths = random_paths(scene, 20000, stream);
  const at::Tensor rows = at::arange(paths.size(), paths.labels.options());
  const at::Tensor t = process.draw_time({seed, Purpose::picture, 6}, rows);
  const Noised noised = process.noise(scene.codebook(), paths.x0, paths.labels, paths.eps, t);
  const at::Tensor inside = scene.codebook().decode(noised.x).eq(paths.labels);
  return inside.to(at::kDouble).mean().item<double>();
}

std::vector<Point> to_points(const at::Tensor& x) {
  require(x.dim() == 2 && x.size(1) == 2, "points of the plane must have shape [N, 2]");
  const at::Tensor rows = x.detach().to(at::kCPU, at::kDouble).contiguous();
  const auto value = rows.accessor<double, 2>();
  std::vector<Point> points(static_cast<size_t>(x.size(0)));
  for (size_t i = 0; i < points.size(); ++i) points[i] = {value[i][0], value[i][1]};
  return points;
}

std::vector<double> to_numbers(const at::Tensor& x) {
  const at::Tensor flat = x.detach().to(at::kCPU, at::kDouble).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

}  // namespace tessera::flow
