#pragma once

#include "command.h"
#include "imaging/image_folder.h"
#include "imaging/image_generator.h"
#include "sampler_settings.h"

#include <CLI/CLI.hpp>

#include <optional>
#include <string>

namespace tessera::app {

// What the commands that make images can change beside the sampler. What is not given is as the
// model has it.
struct ImageSettings {
  std::optional<int64_t> batch;
  std::optional<double> guidance, time_difference;
  std::string label;  // a class, by name or number
};

void add_image_options(CLI::App& command, ImageSettings& settings);

// A model that was asked for, ready to make images.
class LoadedImages {
 public:
  LoadedImages(const SamplerSettings& sampler, const ImageSettings& settings,
               const GlobalOptions& globals);

  const std::filesystem::path& folder() const { return folder_; }  // of the model
  const imaging::ImageModel& model() const { return *loaded_.model; }
  const imaging::ImageGenerator& generator() const { return *generator_; }
  const imaging::SamplingOptions& options() const { return options_; }

  double r() const;  // confidence factor of sampling

  // The class of an image's number: the one that was asked for, or all in turn; empty: none.
  const imaging::ClassRule& classes() const { return classes_; }

 private:
  std::filesystem::path folder_;
  imaging::LoadedImageModel loaded_;
  imaging::SamplingOptions options_;
  std::optional<imaging::ImageGenerator> generator_;
  imaging::ClassRule classes_;
};

}  // namespace tessera::app
