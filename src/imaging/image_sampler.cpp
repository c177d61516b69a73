#include <tessera/imaging/image_sampler.h>

#include "base/device.h"
#include "base/machine_memory.h"
#include "base/require.h"
#include "imaging/image_folder.h"
#include "imaging/image_generator.h"
#include "process/changed_sampler.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

namespace tessera {
namespace {

imaging::SamplingOptions with_changes(imaging::SamplingOptions sampling,
                                      const ImageSamplerOptions& options) {
  sampling.sampler = changed_sampler(sampling.sampler, options.steps, options.r, options.seed);
  sampling.guidance = options.guidance.value_or(sampling.guidance);
  sampling.batch = options.batch.value_or(sampling.batch);
  return sampling;
}

imaging::LoadedImageModel load(const std::filesystem::path& folder,
                               const ImageSamplerOptions& options, at::Device device) {
  return imaging::load_image_folder(find_model_folder(folder, options.checkpoint), device,
                                    nn::parse_precision(options.precision, device));
}

}  // namespace

struct ImageSampler::State {
  imaging::LoadedImageModel loaded;
  imaging::ImageGenerator generator;
  std::vector<std::string> classes;  // that the network is told

  State(const std::filesystem::path& folder, const ImageSamplerOptions& options)
      : loaded(load(folder, options, parse_device(options.device))),
        generator(*loaded.model, with_changes(loaded.sampling, options)) {
    if (loaded.model->classes() > 0) classes = loaded.classes;
    if (options.guidance) imaging::require_told_classes(*loaded.model, "guidance");
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
  const imaging::ClassRule rule = imaging::class_rule(label, state_->loaded.classes, model);
  Images images{.count = count,
                .height = shape.height,
                .width = shape.width,
                .channels = shape.channels,
                .values = {}};
  const int64_t bytes = shape.height * shape.width * shape.channels;  // of an image
  require_memory(
      static_cast<double>(count) * static_cast<double>(bytes),
      fmt::format("images of {} x {} pixels, {} at a time", shape.width, shape.height, count),
      "ask for fewer at a time");
  images.values.reserve(static_cast<size_t>(count * bytes));
  const c10::NoGradGuard no_grad;
  state_->generator.stream(first, count, rule, [&](const at::Tensor& some) {
    const at::Tensor rows = some.permute({0, 2, 3, 1}).contiguous();
    const auto* values = rows.const_data_ptr<uint8_t>();
    images.values.insert(images.values.end(), values, values + rows.numel());
  });
  return images;
}

}  // namespace tessera
