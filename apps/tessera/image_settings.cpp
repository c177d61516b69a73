#include "image_settings.h"

#include "engine/image_engine.h"

namespace tessera::app {

void add_image_options(CLI::App& command, ImageSettings& settings) {
  command.add_option("--class", settings.label, "make images of one class only, by name or number")
      ->option_text("NAME");
  engine::visit_images(settings.options, FlagAdder(command));
}

SampleOptions options_in_effect(const Engine& engine, const SampleOptions& changes) {
  return engine.images().in_effect(changes, engine::Spelling::flag);
}

ImageRequest request_for(int64_t count, const ImageSettings& settings,
                         const GlobalOptions& globals) {
  return {
      .count = count, .label = settings.label, .seed = globals.seed, .options = settings.options};
}

}  // namespace tessera::app
