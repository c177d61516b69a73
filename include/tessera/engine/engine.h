#pragma once

#include <tessera/base/api.h>
#include <tessera/base/languages.h>
#include <tessera/engine/image_request.h>
#include <tessera/engine/load_options.h>
#include <tessera/engine/text_request.h>
#include <tessera/engine/text_step_view.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera {

namespace engine {
class TextEngine;
class ImageEngine;
}  // namespace engine

// A trained model that is loaded once and answers requests, each with its own seed, options, stop
// token and step hook.
//   const tessera::Engine engine("runs/m30k");
//   const std::vector<tessera::TextRequest> requests{{.text = "ein kleiner hund"},
//                                                    {.text = "zwei", .options = {.steps = 10}}};
//   for (const tessera::TextResult& result : engine.run(requests)) ...
// Requests of a call whose options agree are computed together, whatever their seeds; many at once
// are faster than one after the other. A result depends on its request alone, not on the others of
// the call or on its place among them, up to rounding. Threads may share an engine.
class TESSERA_API Engine {
 public:
  // A model folder, or the folder of a training run. Throws Error for one that cannot be loaded.
  explicit Engine(const std::filesystem::path& folder, const LoadOptions& options = {});
  ~Engine();
  Engine(Engine&&) noexcept;
  Engine& operator=(Engine&&) noexcept;

  const std::filesystem::path& folder() const;  // of the model: a checkpoint if a run was named
  const LoadOptions& load_options() const;      // as they were given
  bool makes_images() const;                    // else texts
  const Languages& languages() const;           // of a translator's texts, if its folder says
  // A line that names whose data the model was made of, to be shown wherever it is used; empty:
  // none.
  const std::string& attribution() const;

  // One result per request, in order. If a request fails or is stopped, its result says so; the
  // others are not affected.
  //   progress  called with the number of newly finished requests, from any thread
  // Throws Error if the model is of the other kind.
  std::vector<TextResult> run(std::span<const TextRequest> requests,
                              const std::function<void(int64_t more)>& progress = {}) const;
  std::vector<ImageResult> run(std::span<const ImageRequest> requests) const;

  // All options as they are in effect with these changes. Throws UsageError for options that make
  // no sense with the model.
  GenerateOptions in_effect(const GenerateOptions& changes) const;
  SampleOptions in_effect(const SampleOptions& changes) const;

  // Text models: symbols of a text, with the end symbol, as requests take them.
  std::vector<int32_t> symbols_of(std::string_view text) const;

  // For TextRequest::on_step: calls `show` with every step as text. Every request needs its own.
  std::function<void(const TextStep&)> watch(std::function<void(const TextStepView&)> show) const;

  // Image models: names of the classes the model is told, and the size of an image, as Images with
  // a count of 0.
  std::vector<std::string> classes() const;
  Images image_size() const;

  // For this library's own programs.
  const engine::TextEngine& text() const;
  const engine::ImageEngine& images() const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace tessera
