#pragma once

#include "evaluation/image_distance.h"
#include "image_model/autoencoder.h"

#include <tessera/evaluation/reconstruction.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>

namespace tessera::evaluation {

// Takes images through an autoencoder and back, and measures what comes back.
class ReconstructionMeter {
 public:
  // The model must outlive it.
  explicit ReconstructionMeter(const image_model::Autoencoder& model);

  // Images [n, C, H, W] uint8. Returns what came back, likewise, on the CPU.
  at::Tensor add(const at::Tensor& images);

  Reconstruction result() const;

 private:
  const image_model::Autoencoder& model_;
  int64_t images_ = 0;
  double squares_ = 0, values_ = 0;  // sum of the squared differences, and how many
  at::Tensor counts_;                // [K] int64, of the codes
};

// Measures `count` images of a set, at equal intervals, or all if it has fewer.
//   images    [N, C, H, W] uint8
//   distance  the Fréchet distance of what comes back, too; or nullptr
//   pause     called now and then; what it throws ends the work
Reconstruction measure_reconstruction(const image_model::Autoencoder& model,
                                      const at::Tensor& images, int64_t count,
                                      const ImageDistance* distance,
                                      const std::function<void()>& pause = {});

// Images and what came back of them, one after the other.   2 x [n, C, H, W] -> [2 n, C, H, W]
at::Tensor side_by_side(const at::Tensor& images, const at::Tensor& reconstructions);

}  // namespace tessera::evaluation
