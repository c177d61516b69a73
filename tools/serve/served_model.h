#pragma once

#include <tessera/engine/engine.h>

#include <cstdint>
#include <string>
#include <vector>

namespace tessera::serve {

// What clients are told of a model.
struct ModelFacts {
  std::string name;                       // of its folder, or as the command line says
  bool makes_images = false;              // else texts
  std::string source = {}, target = {};   // languages of texts, lower case ("de"); empty: unknown
  std::vector<std::string> classes = {};  // of images; empty: none
  int64_t height = 0, width = 0, channels = 0;  // of images
  int64_t steps = 0;                            // usual network calls; 0: not a diffusion model
  std::string usual_candidates = {};            // "9x1"; empty: not a diffusion model
  GenerateOptions text_defaults = {};           // what requests leave open
  std::string attribution = {};                 // to be shown with its results; empty: none
};

}  // namespace tessera::serve
