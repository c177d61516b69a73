#include "evaluation/recognition.h"

#include <ATen/ATen.h>

namespace tessera::evaluation {
namespace {

constexpr double kSure = 0.8;

}  // namespace

void RecognitionCounter::add(const at::Tensor& images) {
  if (!classifier_.has_logits()) return;
  const at::Tensor probabilities = classifier_.class_probabilities(images).cpu();
  const auto [confidence, label] = probabilities.max(1);
  const at::Tensor sure = label.masked_select(confidence.gt(kSure));
  seen_ += images.size(0);
  const at::Tensor counts = at::bincount(sure, {}, probabilities.size(1));
  counts_ = counts_.defined() ? counts_ + counts : counts;
}

std::optional<ImageEvaluation::Recognition> RecognitionCounter::result() const {
  if (seen_ == 0) return std::nullopt;
  const auto seen = static_cast<double>(seen_);
  const at::Tensor shares = counts_.to(at::kDouble) / seen;
  const double* first = shares.const_data_ptr<double>();
  return ImageEvaluation::Recognition{
      kSure, counts_.sum().item<double>() / seen, {first, first + shares.numel()}};
}

}  // namespace tessera::evaluation
