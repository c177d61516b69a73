#include "process/rank_statistics.h"

#include "base/require.h"
#include "tensor/slices.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace tessera {
namespace {

// [n] int64: 1 + how many symbols score higher than the label
at::Tensor ranks(const Codebook& codebook, const at::Tensor& x, const at::Tensor& labels) {
  const at::Tensor scores = codebook.scores(x);
  return scores.gt(scores.gather(-1, labels.unsqueeze(-1))).sum(-1) + 1;
}

}  // namespace

RankStatistics rank_statistics(const Process& process, const Codebook& codebook,
                               const at::Tensor& labels, int64_t steps, uint64_t seed) {
  require(steps >= 1 && labels.dim() == 1 && labels.size(0) >= 1,
          "ranks need at least one label and one time");
  const c10::NoGradGuard no_grad;
  const double horizon = process.trajectory().horizon();
  const auto longs = at::TensorOptions().dtype(at::kLong).device(codebook.device());
  RankStatistics result;
  for (int64_t step = 1; step <= steps; ++step) {
    const double t = horizon * static_cast<double>(step) / static_cast<double>(steps);
    const auto found = [&](int64_t begin, int64_t count) {
      const at::Tensor ids = labels.narrow(0, begin, count).to(codebook.device());
      const at::Tensor eps =
          process.draw_noise({seed, Purpose::validation, 0},
                             at::arange(begin, begin + count, longs), {codebook.dim()});
      const at::Tensor time = at::full({count}, t, eps.options());
      return ranks(codebook, process.noise(codebook, codebook.encode(ids), ids, eps, time).x, ids);
    };
    const at::Tensor all =
        in_slices(labels.size(0), codebook.symbols(), codebook.device(), found).to(at::kDouble);
    result.times.push_back(t / horizon);
    result.median.push_back(all.median().item<double>());
    result.mean_log += all.log().mean().item<double>() / static_cast<double>(steps);
  }
  return result;
}

}  // namespace tessera
