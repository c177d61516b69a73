#pragma once

#include <tessera/codebook/embedding_table.h>
#include <tessera/process/process.h>

#include <vector>

#include "drawing/point.h"
#include "flow/options.h"

namespace tessera::flow {

using drawing::Point;
using Polygon = std::vector<Point>;  // convex, its corners in order

// A handful of codes in the plane and the cells they own.
class Scene {
 public:
  // Pictures show the square [-kExtent, kExtent]^2.
  static constexpr double kExtent = 3.0;

  Scene(Cells cells, int64_t codes, uint64_t seed, at::Device device);

  Cells kind() const { return kind_; }
  int64_t symbols() const { return table_.symbols(); }
  const EmbeddingTable& codebook() const { return table_; }
  const std::vector<Point>& codes() const { return codes_; }
  const std::vector<Polygon>& cells() const { return cells_; }  // the part within the square

 private:
  Cells kind_;
  EmbeddingTable table_;
  std::vector<Point> codes_;
  std::vector<Polygon> cells_;
};

// The code nearest to the middle of the picture: its cell has borders all around.
int64_t middle_code(const Scene& scene);

// Paths from codes to noise.
struct Paths {
  at::Tensor labels;  // [N]
  at::Tensor x0;      // [N, 2] their codes
  at::Tensor eps;     // [N, 2]

  int64_t size() const { return labels.size(0); }
};

// `count` paths with normal noise, of all symbols in turn.
Paths random_paths(const Scene& scene, int64_t count, const StreamId& stream);

// Contours are drawn for the noise at this distance, with this many points.
constexpr double kContourRadius = 2.0;
constexpr int64_t kContourPoints = 720;

// The paths from one code to `count` points of the circle |eps| = radius. Where they are at a time
// is a contour of the density of that code's noisy points.
Paths contour_paths(const Scene& scene, int64_t label, double radius, int64_t count);

// A few paths that are easy to look at: one of every symbol that leaves its cell within the
// picture, and last one that never leaves.
Paths showcase_paths(const Scene& scene, const Trajectory& trajectory, uint64_t seed);

// Where the paths are at time t, on the rescaled clock of the process.
std::vector<Point> positions(const Scene& scene, const Process& process, const Paths& paths,
                             double t);

// Share of the points a network is trained on, at times drawn as in training, that lie in their own
// cell: these can be decoded correctly without a network.
double share_inside(const Scene& scene, const Process& process, uint64_t seed);

std::vector<Point> to_points(const at::Tensor& x);    // [N, 2]
std::vector<double> to_numbers(const at::Tensor& x);  // [N]

}  // namespace tessera::flow
