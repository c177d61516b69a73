#include "flow/scene.h"

#include "support/tensors.h"

#include <gtest/gtest.h>

#include <cmath>

namespace tessera::flow {
namespace {

class EveryScene : public testing::TestWithParam<std::tuple<Cells, int64_t>> {
 protected:
  const Scene scene{std::get<0>(GetParam()), std::get<1>(GetParam()), 3, at::kCPU};
};

double area(const Polygon& polygon) {
  double twice = 0;
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point p = polygon[i], q = polygon[(i + 1) % polygon.size()];
    twice += p.x * q.y - p.y * q.x;
  }
  return twice / 2;
}

bool contains(const Polygon& polygon, Point p) {
  for (size_t i = 0; i < polygon.size(); ++i) {
    const Point a = polygon[i], b = polygon[(i + 1) % polygon.size()];
    if ((b.x - a.x) * (p.y - a.y) - (b.y - a.y) * (p.x - a.x) < 0) return false;
  }
  return !polygon.empty();
}

// The difference of the two highest scores of every point: 0 on a border.
at::Tensor lead(const Scene& scene, const at::Tensor& x) {
  const at::Tensor best = std::get<0>(scene.codebook().scores(x).topk(2, -1));
  return best.select(-1, 0) - best.select(-1, 1);
}

TEST_P(EveryScene, CellsCoverTheFrameOnce) {
  double covered = 0;
  for (const Polygon& cell : scene.cells()) {
    EXPECT_GT(area(cell), 0);
    covered += area(cell);
  }
  EXPECT_NEAR(covered, 4 * Scene::kExtent * Scene::kExtent, 1e-9);
}

TEST_P(EveryScene, CodesLieInTheirOwnCells) {
  for (int64_t k = 0; k < scene.symbols(); ++k)
    EXPECT_TRUE(contains(scene.cells()[k], scene.codes()[k]));
}

TEST_P(EveryScene, ThePolygonOfAPointAgreesWithDecoding) {
  const at::Tensor x = test::normal({2000, 2}, 1, at::kDouble).clamp(-2.99, 2.99);
  const auto labels = to_numbers(scene.codebook().decode(x));
  const auto margin = to_numbers(lead(scene, x));
  const auto points = to_points(x);
  for (size_t i = 0; i < points.size(); ++i) {
    if (margin[i] < 1e-4) continue;  // on a border it may be either
    EXPECT_TRUE(contains(scene.cells()[static_cast<size_t>(labels[i])], points[i]));
  }
}

TEST_P(EveryScene, PathsBeginOnABorderAtROne) {
  for (const auto kind : {TrajectoryKind::ot, TrajectoryKind::vp_cosine}) {
    const TrajectoryOptions trajectory{.kind = kind, .horizon = 1000};
    const Process process({.trajectory = trajectory, .r = 1.0});
    const Paths paths = random_paths(scene, 500, {4, Purpose::test, 0});
    const auto stop =
        stopping_time(process.trajectory(), scene.codebook(), paths.x0, paths.eps, paths.labels);
    const at::Tensor zero = at::zeros({paths.size()});
    const auto noised = process.noise(scene.codebook(), paths.x0, paths.labels, paths.eps, zero);
    const auto margin = to_numbers(lead(scene, noised.x));
    const auto never = to_numbers(stop.no_exit);
    for (size_t i = 0; i < margin.size(); ++i)
      EXPECT_TRUE(never[i] != 0 || margin[i] < 2e-3) << name_of(kind) << " path " << i;
  }
}

TEST_P(EveryScene, ShowcasePathsLeaveTheirCellsAndTheLastDoesNot) {
  const Trajectory trajectory("ot", 1000);
  const Paths paths = showcase_paths(scene, trajectory, 1);
  ASSERT_GE(paths.size(), 2);
  const auto stop = stopping_time(trajectory, scene.codebook(), paths.x0, paths.eps, paths.labels);
  EXPECT_TRUE(stop.no_exit[-1].item<bool>());
  EXPECT_FALSE(stop.no_exit.slice(0, 0, -1).any().item<bool>());
}

INSTANTIATE_TEST_SUITE_P(Flow, EveryScene,
                         testing::Combine(testing::Values(Cells::mosaic, Cells::cones),
                                          testing::Values(3, 7, 16)));

TEST(Scene, DependsOnTheSeed) {
  const Scene once(Cells::mosaic, 5, 1, at::kCPU), again(Cells::mosaic, 5, 1, at::kCPU);
  const Scene other(Cells::mosaic, 5, 2, at::kCPU);
  EXPECT_TRUE(once.codebook().codes().equal(again.codebook().codes()));
  EXPECT_FALSE(once.codebook().codes().equal(other.codebook().codes()));
}

TEST(Scene, ContoursShrinkToTheCodeOrFitTheBorder) {
  const Scene scene(Cells::mosaic, 7, 1, at::kCPU);
  const Paths ring = contour_paths(scene, 0, 2.0, 64);
  const TrajectoryOptions trajectory{.kind = TrajectoryKind::ot, .horizon = 1000};
  for (const Point& p : positions(scene, Process({.trajectory = trajectory, .r = 0.0}), ring, 0))
    EXPECT_LT(std::hypot(p.x - scene.codes()[0].x, p.y - scene.codes()[0].y), 1e-6);
  for (const Point& p : positions(scene, Process({.trajectory = trajectory, .r = 1.0}), ring, 1000))
    EXPECT_NEAR(std::hypot(p.x, p.y), 2.0, 1e-5);
}

TEST(Scene, FewerTrainingPointsAreInsideTheirCellsAtROne) {
  const Scene scene(Cells::mosaic, 7, 1, at::kCPU);
  const auto share = [&](double r) {
    return share_inside(scene, Process({.trajectory = {.horizon = 1000}, .r = r}), 1);
  };
  EXPECT_GT(share(0), share(0.5));
  EXPECT_GT(share(0.5), share(1));
}

}  // namespace
}  // namespace tessera::flow
