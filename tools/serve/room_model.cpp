#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "serve/engine_room.h"
#include "serve/refusal.h"
#include "serve/request_options.h"
#include "text/utf8.h"

namespace tessera::serve {
namespace {

constexpr int64_t kCpuTokens = 512, kCudaTokens = 48'000, kCpuImages = 4, kCudaImages = 256;
constexpr int64_t kLargestNumber = int64_t{1} << 53;  // of an image

int64_t candidates_of(const GenerateOptions& options) {
  if (options.beam) return *options.beam;
  return options.lengths.value_or(1) * options.noises.value_or(1);
}

// Network calls, without those of options that all requests share.
template <class Options>
int64_t steps_of(const Options& options) {
  return options.steps.value_or(1) * (1 + options.correctors.value_or(0));
}

void require_between(int64_t wanted, int64_t least, int64_t most, const char* field) {
  if (least <= wanted && wanted <= most) return;
  Refusal refusal(400,
                  fmt::format("{} must be from {} to {} here, got {}", field, least, most, wanted));
  refusal.field = field;
  throw refusal;
}

}  // namespace

RoomModel room_model(const Engine& engine, ModelFacts facts, const GenerateOptions& text_defaults,
                     const SampleOptions& image_defaults, const WorkLimits& limits) {
  RoomModel model;
  model.facts = std::move(facts);
  model.engine = &engine;
  model.device = engine.load_options().device;
  const bool cpu = model.device == "cpu";
  if (engine.makes_images()) {
    const int64_t most_steps = std::max(limits.steps, steps_of(engine.in_effect(image_defaults)));
    model.batch_tokens = cpu ? kCpuImages : kCudaImages;
    model.prepare_images = [=, &engine](ImageRequest& request) {
      require_between(request.count, 1, limits.images, "count");
      require_between(request.first, 0, kLargestNumber, "first");
      request.options = merged(image_defaults, request.options);
      require_between(steps_of(engine.in_effect(request.options)), 1, most_steps, "steps");
    };
    model.run_images = [&engine](std::span<const ImageRequest> requests) {
      return engine.run(requests);
    };
    return model;
  }
  const GenerateOptions usual = engine.in_effect(text_defaults);
  const int64_t most_candidates = std::max(limits.candidates, candidates_of(usual));
  const int64_t most_steps = std::max(limits.steps, steps_of(usual));
  model.batch_tokens = cpu ? kCpuTokens : kCudaTokens;
  model.prepare_text = [=, &engine](TextRequest& request) {
    if (text::find_invalid_utf8(request.text) != std::string::npos)
      throw Refusal(400, "the text is not UTF-8");
    request.options = merged(text_defaults, request.options);
    const GenerateOptions all = engine.in_effect(request.options);
    require_between(candidates_of(all), 1, most_candidates, "candidates");
    require_between(steps_of(all), 1, most_steps, "steps");
    request.symbols = engine.symbols_of(request.text);
    return candidates_of(all) * static_cast<int64_t>(request.symbols.size());
  };
  model.run_texts = [&engine](std::span<const TextRequest> requests) {
    return engine.run(requests);
  };
  return model;
}

}  // namespace tessera::serve
