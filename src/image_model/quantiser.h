#pragma once

#include <tessera/files/safetensors.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>

namespace tessera::image_model {

struct QuantiserOptions {
  int64_t codes = 512;          // K
  int64_t width = 64;           // d, numbers of a code
  double decay = 0.99;          // of the moving averages, for a batch
  double smoothing = 1e-5;      // Laplace: added to how often a code is used
  int64_t restart_every = 100;  // batches
  double restart_share = 0.01;  // codes with at most this part of an equal share of points restart
};

// K codes, each the moving average of the points it is nearest to. It learns from points alone,
// without a gradient: the averages are state beside a network's weights. Everything stays on the
// device, and nothing waits for it.
class Quantiser {
 public:
  Quantiser(const QuantiserOptions& options, at::Device device);

  const at::Tensor& codes() const { return codes_; }  // [K, d] float32

  at::Tensor nearest(const at::Tensor& points) const;   // [..., d] -> [...] int64
  at::Tensor codes_of(const at::Tensor& labels) const;  // [...] -> [..., d]
  at::Tensor mean() const;                              // [d]: of the points

  // To be called before the points of a batch are coded. Every restart_every batches it replaces
  // codes that are hardly used by random points. The first call does so for all codes.
  //   points  [n, d]
  //   places  [K] float64, uniform in [0, 1): which point each code would become
  void restart(const at::Tensor& points, const at::Tensor& places);

  // Moves the codes towards the points that were coded as them. Points that are not finite are left
  // out.   points [n, d], labels [n]
  void learn(const at::Tensor& points, const at::Tensor& labels);

  // By name: codes; sizes, sums (averages of how many points a code has, and of their sum); used,
  // batches (points of every code and batches, since the last restart).
  safetensors::Tensors state() const;
  void restore(const safetensors::File& file, const std::string& prefix);

 private:
  QuantiserOptions options_;
  at::Tensor codes_, sums_;            // [K, d]
  at::Tensor sizes_, used_, batches_;  // [K], [K], []
};

// The codes, with the gradient of the points they stand for.   [..., d], [..., d] -> [..., d]
at::Tensor straight_through(const at::Tensor& points, const at::Tensor& codes);

}  // namespace tessera::image_model
