#pragma once

#include "imaging/image_model.h"

#include <functional>

namespace tessera::imaging {

// Makes images with a model, which must outlive it. Image number n is a function of (seed, n), not
// of how many are made at a time.
class ImageGenerator {
 public:
  ImageGenerator(const ImageModel& model, const SamplingOptions& options);

  // Images first .. first + count - 1.
  //   classes  [count] int64, or undefined: of no class
  //   returns  [count, C, H, W] uint8, on the CPU
  at::Tensor generate(int64_t first, int64_t count, const at::Tensor& classes = {},
                      const StepCallback& callback = {}) const;

  // Images 0 .. count - 1, some at a time, so that memory does not limit them.
  //   classes  of an image's number, or empty: of no class
  void stream(int64_t count, const std::function<int64_t(int64_t)>& classes,
              const std::function<void(const at::Tensor& images)>& take) const;

  int64_t calls() const { return calls_; }  // of the network, for one image

 private:
  const ImageModel& model_;
  SamplingOptions options_;
  int64_t calls_;
};

// The classes of images first .. first + count - 1 by a rule for their numbers: [count] int64, or
// undefined for an empty rule.
at::Tensor classes_of(const std::function<int64_t(int64_t)>& rule, int64_t first, int64_t count);

// Labels of sub-pixels [n, H, W, C] as pictures [n, C, H, W] uint8, on the CPU.
at::Tensor pictures_of(const at::Tensor& labels);

}  // namespace tessera::imaging
