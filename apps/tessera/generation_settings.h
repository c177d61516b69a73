#pragma once

#include "command.h"
#include "model_settings.h"
#include "seq2seq/generation_options.h"

#include <tessera/engine/engine.h>

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::app {

// The settings of commands that generate text.
struct GenerationSettings : ModelSettings {
  GenerateOptions options;  // as the flags say

  // Whether --length asks for the lengths of references, in commands that have references.
  bool wants_reference_lengths() const { return options.length == "oracle"; }

  // The options as requests take them.
  GenerateOptions changes() const;
};

void add_generation_options(CLI::App& command, GenerationSettings& settings);

// Throws UsageError, which names flags, for options that make no sense with the model.
void check_flags(const Engine& engine, const GenerateOptions& changes);

// Requests for lines, all with the same options.
//   first_line  number of the first in the input, from 0
std::vector<TextRequest> requests_for(const std::vector<std::string>& lines, int64_t first_line,
                                      const GenerateOptions& changes, uint64_t seed);

}  // namespace tessera::app
