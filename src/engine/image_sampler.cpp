#include <tessera/engine/image_sampler.h>

#include <tessera/engine/engine.h>

namespace tessera {

struct ImageSampler::State {
  Engine engine;
  uint64_t seed;
  SampleOptions options;
  std::vector<std::string> classes;  // that the network is told

  State(const std::filesystem::path& folder, const ImageSamplerOptions& given)
      : engine(
            folder,
            {.device = given.device, .precision = given.precision, .checkpoint = given.checkpoint}),
        seed(given.seed),
        options{
            .steps = given.steps, .r = given.r, .guidance = given.guidance, .batch = given.batch},
        classes(engine.classes()) {
    engine.in_effect(options);  // throws for options that make no sense
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
  const ImageRequest request{.count = count,
                             .first = first,
                             .label = label,
                             .seed = state_->seed,
                             .options = state_->options};
  std::vector<ImageResult> results = state_->engine.run(std::span(&request, 1));
  results.front().require_done();
  return std::move(results.front().images);
}

}  // namespace tessera
