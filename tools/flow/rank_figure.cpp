#include "flow/figures.h"

#include "process/rank_statistics.h"

#include <tessera/codebook/embedding_table.h>
#include <tessera/tensor/random.h>

#include <ATen/ATen.h>
#include <fmt/format.h>

#include <cmath>

#include "drawing/chart.h"
#include "drawing/svg.h"

namespace tessera::flow {
namespace {

using drawing::Chart;
using drawing::number;

constexpr int64_t kSymbols = 2000, kDim = 128, kTokens = 200, kTimes = 20;

drawing::Panel rank_panel(const EmbeddingTable& table, const at::Tensor& labels,
                          TrajectoryKind trajectory, uint64_t seed) {
  constexpr double kWidth = 420, kHeight = 290;
  Chart chart(kWidth, kHeight, 1.0, std::log10(static_cast<double>(kSymbols)));
  for (const double share : {0.0, 0.5, 1.0})
    chart.x_tick(share, share == 0 ? "0" : share == 1 ? "T" : "½ T");
  for (const double rank : {1.0, 10.0, 100.0, 1000.0})
    chart.y_tick(std::log10(rank), number(rank, 0));
  chart.axis("t, what the network is told", "median rank of the true symbol");
  const std::pair<double, const char*> lines[] = {{0.0, "plain"}, {0.5, "half"}, {1.0, "boundary"}};
  for (const double factor : {1.0, 4.0}) {
    for (const auto& [r, colour] : lines) {
      ProcessOptions options;
      options.trajectory.kind = trajectory;
      options.r = r;
      options.noise_factor = factor;
      const RankStatistics found = rank_statistics(Process(options), table, labels, kTimes, seed);
      std::vector<Point> points;
      for (size_t k = 0; k < found.times.size(); ++k)
        points.push_back(chart.at(found.times[k], std::log10(found.median[k])));
      chart.svg.polyline(points, fmt::format("curve {}{}", colour, factor == 1 ? "" : " dashed"));
    }
  }
  return {std::string(name_of(trajectory)), chart.svg.body(), kWidth, kHeight};
}

}  // namespace

Figure rank_figure(uint64_t seed, at::Device device) {
  const auto longs = at::TensorOptions().dtype(at::kLong).device(device);
  const EmbeddingTable table(
      random_normal({seed, Purpose::picture, 6}, at::arange(kSymbols, longs), {kDim}));
  const at::Tensor labels =
      random_integers({seed, Purpose::picture, 7}, at::arange(kTokens, longs), 0, kSymbols - 1);
  Figure figure{"ranks", "How far the true symbol can be read off the noisy point", {}, 2};
  for (const auto trajectory : {TrajectoryKind::ot, TrajectoryKind::vp_sqrt})
    figure.panels.push_back(rank_panel(table, labels, trajectory, seed));
  return figure;
}

}  // namespace tessera::flow
