#pragma once

#include "image_model/image_classes.h"
#include "image_model/image_model.h"

#include <functional>

namespace tessera::image_model {

// Images that are made together.
struct ImageRows {
  at::Tensor numbers;       // [n] int64
  at::Tensor classes = {};  // [n] int64, or undefined: of no class
  at::Tensor seeds = {};    // [n] int64, 64 bits each; undefined: all have that of the options
};

// Makes images with a model, which must outlive it. Image number n is a function of (seed, n), not
// of how many are made at a time.
class ImageGenerator {
 public:
  ImageGenerator(const ImageModel& model, const SamplingOptions& options);

  //   pause    called before every network call; what it throws ends the work
  //   returns  [n, C, H, W] uint8, on the CPU
  at::Tensor generate(const ImageRows& rows, const StepCallback& callback = {},
                      const std::function<void()>& pause = {}) const;

  // Images first .. first + count - 1, of the classes [count], likewise.
  at::Tensor generate(int64_t first, int64_t count, const at::Tensor& classes = {},
                      const StepCallback& callback = {},
                      const std::function<void()>& pause = {}) const;

  // Images first .. first + count - 1, some at a time, so that memory does not limit their number.
  void stream(int64_t first, int64_t count, const ClassRule& classes,
              const std::function<void(const at::Tensor& images)>& take,
              const std::function<void()>& pause = {}) const;

  int64_t calls() const { return calls_; }  // of the network, for one image

 private:
  const ImageModel& model_;
  SamplingOptions options_;
  int64_t calls_;
};

}  // namespace tessera::image_model
