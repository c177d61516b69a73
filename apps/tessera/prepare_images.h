#pragma once

#include "command.h"

#include <filesystem>
#include <string>
#include <vector>

namespace tessera::app {

// `tessera prepare --images`, as given on the command line.
struct PrepareImages {
  std::string format;              // of --images, or "codes"
  std::string from;                // folder of the images
  std::string with;                // of codes: run or model of the autoencoder
  std::filesystem::path out;       // folder to write
  std::vector<std::string> valid;  // one number: how many training images to hold out; or none
  bool replace = false;
};

// Writes the data set, says on stderr what is in it and prints its folder (or JSON).
void prepare_images(const PrepareImages& command, const GlobalOptions& globals);

}  // namespace tessera::app
