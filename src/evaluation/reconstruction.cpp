#include "evaluation/reconstruction.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

namespace tessera::evaluation {
namespace {

constexpr int64_t kAtOnce = 128;  // images
constexpr double kLargest = 255;
constexpr double kLeastError = 1e-10;  // so that images that come back as they were have a PSNR

}  // namespace

ReconstructionMeter::ReconstructionMeter(const image_model::Autoencoder& model)
    : model_(model), counts_(at::zeros({model.grid().symbols}, at::kLong)) {}

at::Tensor ReconstructionMeter::add(const at::Tensor& images) {
  const at::Tensor labels = model_.encode(images.permute({0, 2, 3, 1}).to(model_.device()));
  const at::Tensor made = model_.decode(labels).permute({0, 3, 1, 2}).contiguous().cpu();
  squares_ +=
      (made.to(at::kFloat) - images.to(at::kFloat)).square().sum(at::kDouble).item<double>();
  values_ += static_cast<double>(images.numel());
  counts_ += at::bincount(labels.flatten().cpu(), {}, counts_.size(0));
  images_ += images.size(0);
  return made;
}

Reconstruction ReconstructionMeter::result() const {
  const double error = squares_ / std::max(values_, 1.0);
  return {.images = images_,
          .error = error,
          .psnr = 10 * std::log10(kLargest * kLargest / std::max(error, kLeastError)),
          .codes = counts_.size(0),
          .codes_used = counts_.gt(0).sum().item<int64_t>(),
          .perplexity = image_model::usage_perplexity(counts_).item<double>()};
}

Reconstruction measure_reconstruction(const image_model::Autoencoder& model,
                                      const at::Tensor& images, int64_t count,
                                      const ImageDistance* distance,
                                      const std::function<void()>& pause) {
  count = std::min(count, images.size(0));
  // Sets may be in the order of their classes.
  const at::Tensor chosen =
      at::arange(count, at::kLong).mul(images.size(0)).div(count, /*rounding_mode=*/"floor");
  ReconstructionMeter meter(model);
  const auto stream = [&](const std::function<void(const at::Tensor&)>& take) {
    for (const at::Tensor& some : chosen.split(kAtOnce)) {
      if (pause) pause();
      take(meter.add(images.index_select(0, some)));
    }
  };
  std::optional<double> found;
  if (distance != nullptr)
    found = distance->measure(count, stream).distance;
  else
    stream([](const at::Tensor&) {});
  Reconstruction result = meter.result();
  result.distance = found;
  return result;
}

at::Tensor side_by_side(const at::Tensor& images, const at::Tensor& reconstructions) {
  return at::stack({images, reconstructions}, 1).flatten(0, 1).contiguous();
}

}  // namespace tessera::evaluation
