#pragma once

#include "image_metric/extractor.h"

#include <tessera/evaluation/image_evaluation.h>

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>

namespace tessera::evaluation {

// Collects what an extractor says about images, if it is a classifier. It must outlive this.
class RecognitionCounter {
 public:
  explicit RecognitionCounter(const image_metric::Extractor& classifier)
      : classifier_(classifier) {}

  void add(const at::Tensor& images);  // [n, C, H, W] uint8

  std::optional<ImageEvaluation::Recognition> result() const;  // none: it is not a classifier

 private:
  const image_metric::Extractor& classifier_;
  int64_t seen_ = 0;
  at::Tensor counts_;  // of images it is sure of, by class
};

}  // namespace tessera::evaluation
