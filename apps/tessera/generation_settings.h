#pragma once

#include "model/generation_options.h"

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tessera::app {

// What the commands that generate can change about it. What is not given is as the model has it.
struct GenerationSettings {
  std::filesystem::path folder;  // of a run or a model
  std::string checkpoint;
  std::optional<int64_t> steps;
  std::optional<double> r;
  std::string sampler, candidates, length, selection;
  std::optional<int64_t> batch_tokens;
};

void add_generation_options(CLI::App& command, GenerationSettings& settings);

// The model's own options with the changes made. Throws UsageError.
model::GenerationOptions changed(model::GenerationOptions options,
                                 const GenerationSettings& settings, uint64_t seed);

}  // namespace tessera::app
