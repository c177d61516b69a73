#include "imaging/image_generator.h"

#include "base/require.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace tessera::imaging {
namespace {

SamplingOptions for_model(SamplingOptions options, const ImageModel& model) {
  require_option(
      model.options().coding.kind != Coding::pixels || options.sampler.r.value_or(0) == 0,
      "a model of pixels is plain continuous diffusion: it is sampled with r = 0, not {}",
      options.sampler.r.value_or(0));
  if (options.sampler.clip == 0) options.sampler.clip = model.clip();
  return options;
}

}  // namespace

at::Tensor classes_of(const std::function<int64_t(int64_t)>& rule, int64_t first, int64_t count) {
  if (!rule) return {};
  std::vector<int64_t> classes;
  for (int64_t i = first; i < first + count; ++i) classes.push_back(rule(i));
  return at::tensor(classes, at::kLong);
}

at::Tensor pictures_of(const at::Tensor& labels) {
  return labels.to(at::kByte).permute({0, 3, 1, 2}).contiguous().cpu();
}

ImageGenerator::ImageGenerator(const ImageModel& model, const SamplingOptions& options)
    : model_(model),
      options_(for_model(options, model)),
      calls_(Sampler(model.process(), model.codebook(), model.denoiser({}, 1), options_.sampler)
                 .calls()) {}

at::Tensor ImageGenerator::generate(int64_t first, int64_t count, const at::Tensor& classes,
                                    const StepCallback& callback) const {
  const ImageShape& shape = model_.shape();
  const at::Device device = model_.device();
  const at::Tensor told = classes.defined() ? classes.to(device) : classes;
  const Sampler sampler(model_.process(), model_.codebook(),
                        model_.denoiser(told, options_.guidance), options_.sampler);
  const at::Tensor samples =
      at::arange(first, first + count, at::TensorOptions().dtype(at::kLong).device(device));
  const Sample sample = sampler.run(
      samples, {shape.height, shape.width, shape.channels, model_.codebook().dim()}, callback);
  return pictures_of(sample.labels);
}

void ImageGenerator::stream(int64_t count, const std::function<int64_t(int64_t)>& classes,
                            const std::function<void(const at::Tensor& images)>& take) const {
  for (int64_t first = 0; first < count; first += options_.batch) {
    const int64_t some = std::min(options_.batch, count - first);
    take(generate(first, some, classes_of(classes, first, some)));
  }
}

}  // namespace tessera::imaging
