#include "image_metric/kernel_distance.h"

#include "base/require.h"
#include "tensor/tensor_checks.h"

#include <tessera/tensor/random.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <unordered_set>
#include <vector>

namespace tessera::image_metric {
namespace {

void require_pair(const at::Tensor& x, const at::Tensor& y) {
  for (const at::Tensor& set : {x, y}) {
    require_floating(set, "features");
    require(set.dim() == 2 && set.size(1) > 0, "features must be [n, D], got {}",
            shape_text(set.sizes()));
    require(set.size(0) >= 2, "a kernel distance needs at least two feature vectors of a set");
  }
  require(x.size(1) == y.size(1), "the first set has {} features and the second {}", x.size(1),
          y.size(1));
  require_same_device(y, x.device(), "the second set");
}

at::Tensor kernel(const at::Tensor& x, const at::Tensor& y) {
  return at::mm(x, y.t()).div_(static_cast<double>(x.size(1))).add_(1).pow_(3);
}

// Mean over the pairs of different elements.
at::Tensor mean_within(const at::Tensor& x) {
  const at::Tensor k = kernel(x, x);
  const auto n = static_cast<double>(x.size(0));
  return (k.sum() - k.trace()) / (n * (n - 1));
}

at::Tensor discrepancy(const at::Tensor& x, const at::Tensor& y) {
  return mean_within(x) + mean_within(y) - 2 * kernel(x, y).mean();
}

// `count` different numbers below `bound`: Floyd's algorithm, which needs no list of all of them.
at::Tensor draw(RandomStream stream, int64_t bound, int64_t count) {
  std::unordered_set<int64_t> seen;
  std::vector<int64_t> chosen;
  for (int64_t last = bound - count; last < bound; ++last) {
    const auto drawn = static_cast<int64_t>(stream.below(static_cast<uint64_t>(last) + 1));
    chosen.push_back(seen.insert(drawn).second ? drawn : last);
    seen.insert(chosen.back());
  }
  return at::tensor(chosen, at::kLong);
}

}  // namespace

double squared_discrepancy(const at::Tensor& x, const at::Tensor& y) {
  require_pair(x, y);
  const c10::NoGradGuard no_grad;
  return discrepancy(x.to(at::kDouble), y.to(at::kDouble)).item<double>();
}

KernelDistance kernel_distance(const at::Tensor& x, const at::Tensor& y,
                               const KernelDistanceOptions& options) {
  require_pair(x, y);
  require_option(options.subsets >= 1, "subsets must be at least 1, got {}", options.subsets);
  require_option(options.subset_size >= 2, "subset_size must be at least 2, got {}",
                 options.subset_size);
  const c10::NoGradGuard no_grad;
  const int64_t size = std::min({options.subset_size, x.size(0), y.size(0)});
  std::vector<at::Tensor> found;
  for (int64_t k = 0; k < options.subsets; ++k) {
    const StreamId id{options.seed, Purpose::resampling, static_cast<uint64_t>(k)};
    const auto subset = [&](const at::Tensor& set, uint64_t sample) {
      const at::Tensor rows = draw(RandomStream(id, sample), set.size(0), size);
      return set.index_select(0, rows.to(set.device())).to(at::kDouble);
    };
    found.push_back(discrepancy(subset(x, 0), subset(y, 1)));
  }
  const at::Tensor all = at::stack(found).cpu();
  return {all.mean().item<double>(), all.std(/*unbiased=*/false).item<double>(), options.subsets,
          size};
}

}  // namespace tessera::image_metric
