#include "image_model/image_generator.h"

#include "base/numerals.h"
#include "base/require.h"
#include "process/interruptible.h"
#include "tensor/machine_memory.h"
#include "tensor/out_of_memory.h"

#include <tessera/base/out_of_memory.h>
#include <tessera/tensor/value_checks.h>

#include <ATen/ATen.h>
#include <c10/util/Exception.h>
#include <fmt/format.h>

#include <algorithm>

namespace tessera::image_model {
namespace {

SamplingOptions for_model(SamplingOptions options, const ImageModel& model) {
  require_option(
      model.options().coding.kind != Coding::pixels || options.sampler.r.value_or(0) == 0,
      "a model of pixels is plain continuous diffusion: it is sampled with r = 0, not {}",
      options.sampler.r.value_or(0));
  require_option(options.guidance >= 0, "sample.guidance must not be negative, got {}",
                 options.guidance);
  require_option(options.batch >= 1, "sample.batch must be at least 1, got {}", options.batch);
  return options;
}

// The least memory, in bytes, that the network keeps of so many images for its way up.
double least_memory(const ImageModel& model, int64_t images) {
  const ImageShape& shape = model.shape();
  const nn::UNetOptions& network = model.options().network;
  const double bytes = model.parameters().precision() == nn::Precision::bfloat16 ? 2 : 4;
  return bytes * static_cast<double>(images) * static_cast<double>(shape.height * shape.width) *
         static_cast<double>(network.width) * static_cast<double>(network.blocks + 1);
}

}  // namespace

ImageGenerator::ImageGenerator(const ImageModel& model, const SamplingOptions& options)
    : model_(model),
      options_(for_model(options, model)),
      calls_(model.family().calls(options_.sampler)) {}

at::Tensor ImageGenerator::generate(int64_t first, int64_t count, const at::Tensor& classes,
                                    const StepCallback& callback,
                                    const std::function<void()>& pause) const {
  return generate({at::arange(first, first + count, at::kLong), classes}, callback, pause);
}

at::Tensor ImageGenerator::generate(const ImageRows& rows, const StepCallback& callback,
                                    const std::function<void()>& pause) const {
  const ValueCheckScope checks;
  const int64_t count = rows.numbers.size(0);
  const ImageShape& shape = model_.shape();
  const at::Device device = model_.device();
  const std::string lower = fmt::format("lower sample.batch (--batch), now {}", options_.batch);
  if (device.is_cpu())
    require_memory(least_memory(model_, count), fmt::format("making images, {} at a time", count),
                   lower);
  const auto on_device = [&](const at::Tensor& x) { return x.defined() ? x.to(device) : x; };
  const Denoiser network =
      interruptible(model_.denoiser(on_device(rows.classes), options_.guidance), pause);
  try {
    const Sample sample = model_.family().reverse(
        network, on_device(rows.numbers), {shape.height, shape.width, shape.channels},
        options_.sampler, callback, on_device(rows.seeds));
    const at::Tensor pictures = model_.pictures_of(sample.labels);
    raise_deferred_errors();
    return pictures;
  } catch (const c10::Error& error) {
    if (!is_out_of_memory(error)) throw;
    throw OutOfMemory(
        fmt::format("the device has no memory left for {} at a time", counted(count, "image")),
        lower);
  }
}

void ImageGenerator::stream(int64_t first, int64_t count, const ClassRule& classes,
                            const std::function<void(const at::Tensor& images)>& take,
                            const std::function<void()>& pause) const {
  const int64_t end = first + count;
  for (; first < end; first += options_.batch) {
    const int64_t some = std::min(options_.batch, end - first);
    take(generate(first, some, classes_of(classes, first, some), {}, pause));
  }
}

}  // namespace tessera::image_model
