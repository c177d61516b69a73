#include <tessera/imaging/image_sampler.h>

#include "base/device.h"
#include "base/require.h"
#include "imaging/image_folder.h"
#include "imaging/image_generator.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

namespace tessera {
namespace {

imaging::SamplingOptions with_changes(imaging::SamplingOptions sampling,
                                      const ImageSamplerOptions& options) {
  sampling.sampler.steps = options.steps.value_or(sampling.sampler.steps);
  if (options.r) {
    require_option(*options.r >= 0 && *options.r <= 1, "r must be in [0, 1], got {}", *options.r);
    sampling.sampler.r = options.r;
  }
  sampling.guidance = options.guidance.value_or(sampling.guidance);
  sampling.batch = options.batch.value_or(sampling.batch);
  sampling.sampler.seed = options.seed;
  return sampling;
}

imaging::LoadedImageModel load(const std::filesystem::path& folder,
                               const ImageSamplerOptions& options) {
  const at::Device device = parse_device(options.device);
  return imaging::load_image_folder(find_model_folder(folder, options.checkpoint), device,
                                    nn::usual_precision(device));
}

}  // namespace

struct ImageSampler::State {
  imaging::LoadedImageModel loaded;
  imaging::ImageGenerator generator;
  std::vector<std::string> classes;  // that the network is told

  State(const std::filesystem::path& folder, const ImageSamplerOptions& options)
      : loaded(load(folder, options)),
        generator(*loaded.model, with_changes(loaded.sampling, options)) {
    if (loaded.model->classes() > 0) classes = loaded.classes;
  }
};

ImageSampler::ImageSampler(const std::filesystem::path& folder, const ImageSamplerOptions& options)
    : state_(std::make_unique<const State>(folder, options)) {}
ImageSampler::~ImageSampler() = default;
ImageSampler::ImageSampler(ImageSampler&&) noexcept = default;
ImageSampler& ImageSampler::operator=(ImageSampler&&) noexcept = default;

const std::vector<std::string>& ImageSampler::classes() const {
  return state_->classes;
}

Images ImageSampler::sample(int64_t count, int64_t first, const std::string& label) const {
  require_option(count >= 0 && first >= 0, "count and first must not be negative, got {} and {}",
                 count, first);
  const imaging::ImageModel& model = *state_->loaded.model;
  const imaging::ImageShape& shape = model.shape();
  const imaging::ClassRule rule = label.empty()
                                      ? imaging::all_classes_in_turn(model)
                                      : imaging::one_class(label, state_->loaded.classes, model);
  Images images{.count = count,
                .height = shape.height,
                .width = shape.width,
                .channels = shape.channels,
                .values = {}};
  images.values.reserve(static_cast<size_t>(count * shape.height * shape.width * shape.channels));
  const c10::NoGradGuard no_grad;
  state_->generator.stream(first, count, rule, [&](const at::Tensor& some) {
    const at::Tensor rows = some.permute({0, 2, 3, 1}).contiguous();
    const auto* values = rows.const_data_ptr<uint8_t>();
    images.values.insert(images.values.end(), values, values + rows.numel());
  });
  return images;
}

}  // namespace tessera
