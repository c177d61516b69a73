#include <tessera/engine/engine.h>

#include "base/require.h"
#include "engine/image_engine.h"
#include "engine/step_viewer.h"
#include "engine/text_engine.h"
#include "files/model_files.h"
#include "image_model/autoencoder_folder.h"
#include "tensor/device.h"

#include <optional>
#include <utility>

namespace tessera {
namespace {

void require_done_or_throw(Outcome outcome, const std::exception_ptr& failure) {
  if (outcome == Outcome::failed) std::rethrow_exception(failure);
  require(outcome == Outcome::done, "the request was stopped");
}

}  // namespace

struct Engine::State {
  std::filesystem::path folder;
  LoadOptions load_options;
  ModelAbout about;
  std::optional<engine::TextEngine> text;
  std::optional<engine::ImageEngine> images;

  State(const std::filesystem::path& run_or_model, const LoadOptions& options)
      : load_options(options) {
    const at::Device device = parse_device(options.device);
    folder = find_model_folder(run_or_model, options.checkpoint);
    const std::string kind = kind_of_model(folder);
    about = about_model(folder);
    if (kind == image_model::kImageKind || kind == image_model::kAutoencoderKind)
      images.emplace(folder, options, device);
    else
      text.emplace(folder, options, device);
  }
};

void TextResult::require_done() const {
  require_done_or_throw(outcome, failure);
}
void ImageResult::require_done() const {
  require_done_or_throw(outcome, failure);
}

Engine::Engine(const std::filesystem::path& folder, const LoadOptions& options)
    : state_(std::make_unique<const State>(folder, options)) {}
Engine::~Engine() = default;
Engine::Engine(Engine&&) noexcept = default;
Engine& Engine::operator=(Engine&&) noexcept = default;

const std::filesystem::path& Engine::folder() const {
  return state_->folder;
}

const LoadOptions& Engine::load_options() const {
  return state_->load_options;
}

bool Engine::makes_images() const {
  return state_->images.has_value();
}

const Languages& Engine::languages() const {
  return state_->about.languages;
}

const std::string& Engine::attribution() const {
  return state_->about.attribution;
}

const engine::TextEngine& Engine::text() const {
  require(!makes_images(), "'{}' is a model of kind 'image', not of text", folder().string());
  return *state_->text;
}

const engine::ImageEngine& Engine::images() const {
  require(makes_images(), "'{}' is a model of kind 'seq2seq', not of images", folder().string());
  return *state_->images;
}

std::vector<TextResult> Engine::run(std::span<const TextRequest> requests,
                                    const std::function<void(int64_t more)>& progress) const {
  return text().run(requests, progress);
}

std::vector<ImageResult> Engine::run(std::span<const ImageRequest> requests) const {
  return images().run(requests);
}

GenerateOptions Engine::in_effect(const GenerateOptions& changes) const {
  return text().in_effect(changes);
}

SampleOptions Engine::in_effect(const SampleOptions& changes) const {
  return images().in_effect(changes);
}

std::vector<int32_t> Engine::symbols_of(std::string_view text_to_encode) const {
  return text().symbols_of(text_to_encode);
}

std::function<void(const TextStep&)> Engine::watch(
    std::function<void(const TextStepView&)> show) const {
  auto viewer = std::make_shared<engine::StepViewer>(text().tokenizer());
  return [viewer, show = std::move(show)](const TextStep& step) { show(viewer->view(step)); };
}

std::vector<std::string> Engine::classes() const {
  return images().classes();
}

Images Engine::image_size() const {
  return images().image_size();
}

}  // namespace tessera
