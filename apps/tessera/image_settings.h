#pragma once

#include "command.h"
#include "model_settings.h"

#include <tessera/engine/engine.h>

#include <CLI/CLI.hpp>

#include <string>

namespace tessera::app {

// The settings of commands that make images.
struct ImageSettings {
  SampleOptions options;
  std::string label;  // a class, by name or number
};

// Adds all options but the sampler's.
void add_image_options(CLI::App& command, ImageSettings& settings);

// The options in effect. Throws UsageError, which names flags, for options that make no sense with
// the model.
SampleOptions options_in_effect(const Engine& engine, const SampleOptions& changes);

// A request for images number 0, ..., count - 1.
ImageRequest request_for(int64_t count, const ImageSettings& settings,
                         const GlobalOptions& globals);

}  // namespace tessera::app
