#pragma once

#include <tessera/process/sampler.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace tessera::app {

// A model, and what all commands that let it make something can change about the sampler. What is
// not given is as the model has it.
struct SamplerSettings {
  std::filesystem::path folder;  // of a run or a model
  std::string checkpoint;
  std::string precision = "auto";
  std::optional<int64_t> steps;
  std::optional<double> r;
  std::string sampler, path, clock, estimate;
};

// The folder; commands that take several have an option of their own.
void add_model_option(CLI::App& command, SamplerSettings& settings);
// All else.
void add_sampler_options(CLI::App& command, SamplerSettings& settings);

// Throws UsageError.
void change_sampler(SamplerOptions& sampler, const SamplerSettings& settings, uint64_t seed);

}  // namespace tessera::app
