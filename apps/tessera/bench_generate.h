#pragma once

#include "command.h"
#include "model_settings.h"

#include <tessera/engine/generate_options.h>

#include <string>
#include <vector>

namespace tessera::app {

// What `tessera bench generate` measures.
struct GenerationBench {
  ModelSettings model;
  std::string input;
  std::vector<std::string> precisions;  // empty: all that the device can compute in
  std::vector<std::string> presets;     // of diffusion models; empty: fast and balanced
  std::vector<int64_t> beams;           // of autoregressive models; empty: 1 and 5
  GenerateOptions options;              // the length, if it is given
  int64_t lines = 200;                  // of the input, at most
  int64_t singles = 50;                 // of them, one after the other
  int repeats = 3;
};

// Times generation in several precisions with several amounts of work, in turn, and prints a table.
void bench_generate(const GenerationBench& bench, const GlobalOptions& globals);

}  // namespace tessera::app
