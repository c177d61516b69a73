#include "process/rank_statistics.h"

#include "base/require.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace tessera {
namespace {

// Scores that are stored at once: 16 MiB of float32.
constexpr int64_t kScores = int64_t{1} << 22;

// [n] int64: 1 + how many symbols score higher than the label
at::Tensor ranks(const Codebook& codebook, const at::Tensor& x, const at::Tensor& labels) {
  const at::Tensor scores = codebook.scores(x);
  return scores.gt(scores.gather(-1, labels.unsqueeze(-1))).sum(-1) + 1;
}

}  // namespace

RankStatistics rank_statistics(const Process& process, const Codebook& codebook,
                               const at::Tensor& labels, int64_t steps, uint64_t seed) {
  require(steps >= 1 && labels.dim() == 1 && labels.size(0) >= 1,
          "ranks are taken of at least one label, at one time or more");
  const c10::NoGradGuard no_grad;
  const double horizon = process.trajectory().horizon();
  const int64_t chunk = std::max<int64_t>(1, kScores / codebook.symbols());
  const auto longs = at::TensorOptions().dtype(at::kLong).device(codebook.device());
  RankStatistics result;
  for (int64_t step = 1; step <= steps; ++step) {
    const double t = horizon * static_cast<double>(step) / static_cast<double>(steps);
    std::vector<at::Tensor> found;
    for (int64_t begin = 0; begin < labels.size(0); begin += chunk) {
      const int64_t end = std::min(begin + chunk, labels.size(0));
      const at::Tensor ids = labels.slice(0, begin, end).to(codebook.device());
      const at::Tensor eps = process.draw_noise({seed, Purpose::validation, 0},
                                                at::arange(begin, end, longs), {codebook.dim()});
      const at::Tensor time = at::full({end - begin}, t, eps.options());
      found.push_back(
          ranks(codebook, process.noise(codebook, codebook.encode(ids), ids, eps, time).x, ids));
    }
    const at::Tensor all = at::cat(found).to(at::kDouble);
    result.times.push_back(t / horizon);
    result.median.push_back(all.median().item<double>());
    result.mean_log += all.log().mean().item<double>() / static_cast<double>(steps);
  }
  return result;
}

}  // namespace tessera
