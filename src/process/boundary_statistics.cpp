#include "process/boundary_statistics.h"

#include <tessera/process/boundary.h>

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>

namespace tessera {
namespace {

constexpr int64_t kChunk = 8192;  // tokens: bounds the memory for their noise

}  // namespace

BoundaryCounter::BoundaryCounter(const Process& process, const Codebook& codebook,
                                 const std::vector<int64_t>& undecodable)
    : process_(process), codebook_(codebook) {
  decodable_ = at::ones({codebook.symbols()}, at::kBool)
                   .index_fill_(0, at::tensor(undecodable, at::kLong), 0)
                   .to(codebook.device());
  sums_ = at::zeros({4}, at::TensorOptions().dtype(at::kDouble).device(codebook.device()));
  histogram_ = at::zeros({BoundaryStatistics::kBins}, sums_.options());
}

void BoundaryCounter::add(const at::Tensor& labels, const at::Tensor& eps) {
  const c10::NoGradGuard no_grad;
  constexpr int64_t kBins = BoundaryStatistics::kBins;
  const StoppingTime border =
      stopping_time(process_.trajectory(), codebook_, codebook_.encode(labels), eps, labels,
                    process_.options().no_exit);
  const at::Tensor counted = decodable_.index({labels});
  const at::Tensor weight = counted.to(at::kDouble);
  const at::Tensor share = border.t0.to(at::kDouble) / process_.trajectory().horizon();
  const at::Tensor bin = (share * kBins).to(at::kLong).clamp(0, kBins - 1);
  histogram_.scatter_add_(0, bin.flatten(), weight.flatten());
  sums_ += at::stack({border.outside.logical_and(counted).sum().to(at::kDouble),
                      border.no_exit.logical_and(counted).sum().to(at::kDouble),
                      (share * weight).sum(), weight.sum()});
}

void BoundaryCounter::share(const std::function<void(const at::Tensor&)>& sum) {
  sum(sums_);
  sum(histogram_);
}

BoundaryStatistics BoundaryCounter::result() const {
  const at::Tensor sums = sums_.cpu(), histogram = histogram_.cpu();
  const double* sum = sums.const_data_ptr<double>();
  const double tokens = std::max(sum[3], 1.0);
  BoundaryStatistics result{.tokens = static_cast<int64_t>(sum[3]),
                            .outside = sum[0] / tokens,
                            .no_exit = sum[1] / tokens,
                            .mean = sum[2] / tokens};
  for (int64_t i = 0; i < BoundaryStatistics::kBins; ++i)
    result.histogram.push_back(histogram.const_data_ptr<double>()[i] / tokens);
  return result;
}

BoundaryStatistics boundary_statistics(const Process& process, const Codebook& codebook,
                                       const std::vector<int64_t>& undecodable,
                                       const at::Tensor& labels, uint64_t seed) {
  BoundaryCounter counter(process, codebook, undecodable);
  const auto longs = at::TensorOptions().dtype(at::kLong).device(codebook.device());
  for (int64_t begin = 0; begin < labels.size(0); begin += kChunk) {
    const int64_t end = std::min(begin + kChunk, labels.size(0));
    const at::Tensor noise = process.draw_noise({seed, Purpose::validation, 0},
                                                at::arange(begin, end, longs), {codebook.dim()});
    counter.add(labels.slice(0, begin, end).to(codebook.device()), noise);
  }
  return counter.result();
}

}  // namespace tessera
