#include "kernels/exit_ratio.h"

#include "kernels/cpu/row_scan.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

// LibTorch's GEMM computes both products of a tile of rows with a tile of codes, one tile per
// thread at a time. They are scanned while they are still in the cache.
namespace tessera::kernels::cpu {
namespace {

constexpr float kInfinity = std::numeric_limits<float>::infinity();
constexpr double kTiny = 1e-6;
// Pairs of codes whose scores differ by less than this many tiny_a are compared in double
// precision.
constexpr float kGuard = 128;

// Tiles whose two score blocks (256 x 512 floats each) stay in a core's second-level cache.
constexpr int64_t kTileRows = 256, kTileCodes = 512;
// Scratch memory of all threads together. The rest of the limit is for data kept per element.
constexpr std::size_t kTileLimit = kScratchLimit * 7 / 8;

at::Tensor view(const float* data, int64_t rows, int64_t columns) {
  return at::from_blob(const_cast<float*>(data), {rows, columns}, at::kFloat);
}

int64_t tile_rows(int64_t n) {
  const int64_t threads = std::max(1, at::get_num_threads());
  const auto limit = static_cast<int64_t>(kTileLimit / (2 * sizeof(float) * kTileCodes)) / threads;
  const int64_t share = (n + threads - 1) / threads;
  return std::clamp<int64_t>(std::min(share, limit), 1, kTileRows);
}

double dot(const float* x, const float* y, int64_t d) {
  return std::inner_product(x, x + d, y, 0.0);
}

float largest_norm(const float* codes, int64_t k, int64_t d) {
  float largest = 0;
  for (int64_t j = 0; j < k; ++j)
    largest = std::max(largest, row_scan().squared_norm(codes + j * d, d));
  return std::sqrt(largest);
}

// A thread's two blocks of scores.
class Tile {
 public:
  explicit Tile(int64_t rows)
      : scores_(at::empty({rows, kTileCodes}, at::kFloat)),
        noise_scores_(at::empty({rows, kTileCodes}, at::kFloat)) {}

  // x [rows, d] times codes [count, d], row r at scores(r).
  void multiply(const float* x, int64_t rows, const float* codes, int64_t count, int64_t d) {
    product(scores_, x, rows, codes, count, d);
  }
  void multiply_noise(const float* eps, int64_t rows, const float* codes, int64_t count,
                      int64_t d) {
    product(noise_scores_, eps, rows, codes, count, d);
  }
  float* scores(int64_t row, int64_t count) { return scores_.data_ptr<float>() + row * count; }
  float* noise_scores(int64_t row, int64_t count) {
    return noise_scores_.data_ptr<float>() + row * count;
  }

 private:
  static void product(at::Tensor& block, const float* x, int64_t rows, const float* codes,
                      int64_t count, int64_t d) {
    at::Tensor out = view(block.data_ptr<float>(), rows, count);
    at::mm_out(out, view(x, rows, d), view(codes, count, d).t());
  }

  at::Tensor scores_, noise_scores_;
};

// The lowest argmax of every row, and its score.
void find_best(Tile& tile, const float* x, int64_t rows, const float* codes, int64_t k, int64_t d,
               int64_t* labels, float* best) {
  std::fill_n(best, rows, -kInfinity);
  std::fill_n(labels, rows, 0);
  for (int64_t first = 0; first < k; first += kTileCodes) {
    const int64_t count = std::min(kTileCodes, k - first);
    tile.multiply(x, rows, codes + first * d, count, d);
    for (int64_t row = 0; row < rows; ++row) {
      const float* scores = tile.scores(row, count);
      const float top = row_scan().maximum(scores, count);
      if (!(top > best[row])) continue;
      best[row] = top;
      labels[row] = first + (std::find(scores, scores + count, top) - scores);
    }
  }
}

// One element of a problem, its own cell, and what is known about its exit so far.
class Path {
 public:
  // best: the score that the tiles gave a decoded label; NaN if the label was given.
  Path(const ExitRatio& problem, int64_t element, float longest, float best)
      : problem_(problem),
        element_(element),
        x0_(problem.x0 + element * problem.d),
        eps_(problem.eps + element * problem.d),
        label_(problem.labels[element]),
        has_cell_(label_ >= 0 && label_ < problem.k) {
    if (!has_cell_) return;
    const float* code = problem.codes + label_ * problem.d;
    tiny_a_ = kTiny * longest * std::sqrt(row_scan().squared_norm(x0_, problem.d));
    tiny_b_ = kTiny * longest * std::sqrt(row_scan().squared_norm(eps_, problem.d));
    own_.score = problem.decode ? best : static_cast<float>(dot(x0_, code, problem.d));
    own_.noise_score = static_cast<float>(dot(eps_, code, problem.d));
    own_.guard = kGuard * static_cast<float>(tiny_a_);
  }

  // Scans the scores of codes [first, first + count). Overwrites the score of the element's own
  // code.
  void scan(float* scores, float* noise_scores, int64_t first, int64_t count) {
    if (!has_cell_ || outside_) return;
    const int64_t self = label_ - first;
    if (self >= 0 && self < count) {
      // The own code must not compete: place it clearly inside, with no gain.
      scores[self] = own_.score - 2 * own_.guard;
      noise_scores[self] = -kInfinity;
    }
    const ScanResult found = row_scan().exit(own_, scores, noise_scores, count);
    ratio_ = std::max(ratio_, found.ratio);
    if (found.smallest > own_.guard) return;
    for (int64_t j = 0; j < count; ++j)
      if (j != self && own_.score - scores[j] <= own_.guard) judge(first + j);
  }

  void finish() const {
    problem_.ratio[element_] = has_cell_ && !outside_ ? ratio_ : kInfinity;
    problem_.outside[element_] = outside_;
  }

 private:
  // Compares a competitor in double precision, because it is too close for float32.
  void judge(int64_t code) {
    const float* own = problem_.codes + label_ * problem_.d;
    const float* other = problem_.codes + code * problem_.d;
    double a = 0, b = 0;
    for (int64_t i = 0; i < problem_.d; ++i) {
      const double difference = double{own[i]} - double{other[i]};
      a += x0_[i] * difference;
      b -= eps_[i] * difference;
    }
    // A decoded label has the best float32 score. A competitor that is slightly better here is a
    // tie.
    if (problem_.decode) a = std::max(a, 0.0);
    if (a < -tiny_a_)
      outside_ = true;
    else if (a > tiny_a_)
      ratio_ = std::max(ratio_, static_cast<float>(b / a));
    else if (b > tiny_b_)
      ratio_ = kInfinity;
  }

  const ExitRatio& problem_;
  int64_t element_;
  const float *x0_, *eps_;
  int64_t label_;
  bool has_cell_, outside_ = false;
  OwnScore own_{};
  double tiny_a_ = 0, tiny_b_ = 0;
  float ratio_ = -kInfinity;
};

// Exit ratios of the elements [begin, begin + rows) of the problem.
void scan_rows(Tile& tile, const ExitRatio& problem, float longest, int64_t begin, int64_t rows) {
  const int64_t d = problem.d, k = problem.k;
  const float* x0 = problem.x0 + begin * d;
  const float* eps = problem.eps + begin * d;
  std::vector<float> best(rows, std::numeric_limits<float>::quiet_NaN());
  if (problem.decode)
    find_best(tile, x0, rows, problem.codes, k, d, problem.labels + begin, best.data());

  std::vector<Path> paths;
  paths.reserve(rows);
  for (int64_t row = 0; row < rows; ++row)
    paths.emplace_back(problem, begin + row, longest, best[row]);
  for (int64_t first = 0; first < k; first += kTileCodes) {
    const int64_t count = std::min(kTileCodes, k - first);
    tile.multiply(x0, rows, problem.codes + first * d, count, d);
    tile.multiply_noise(eps, rows, problem.codes + first * d, count, d);
    for (int64_t row = 0; row < rows; ++row)
      paths[row].scan(tile.scores(row, count), tile.noise_scores(row, count), first, count);
  }
  for (const Path& path : paths) path.finish();
}

// Calls work(tile, begin, rows) for blocks of rows, one tile per thread.
template <class Work>
void for_row_blocks(int64_t n, const Work& work) {
  const int64_t rows = tile_rows(n);
  const int64_t blocks = (n + rows - 1) / rows;
  at::parallel_for(0, blocks, 1, [&](int64_t first, int64_t last) {
    const c10::NoGradGuard no_grad;
    Tile tile(rows);
    for (int64_t block = first; block < last; ++block) {
      const int64_t begin = block * rows;
      work(tile, begin, std::min(rows, n - begin));
    }
  });
}

}  // namespace

void exit_ratio(const ExitRatio& problem) {
  if (problem.n == 0) return;
  const float longest = largest_norm(problem.codes, problem.k, problem.d);
  for_row_blocks(problem.n, [&](Tile& tile, int64_t begin, int64_t rows) {
    scan_rows(tile, problem, longest, begin, rows);
  });
}

void argmax_score(const ArgmaxScore& problem) {
  for_row_blocks(problem.n, [&](Tile& tile, int64_t begin, int64_t rows) {
    std::vector<float> best(rows);
    find_best(tile, problem.x + begin * problem.d, rows, problem.codes, problem.k, problem.d,
              problem.labels + begin, best.data());
  });
}

}  // namespace tessera::kernels::cpu
