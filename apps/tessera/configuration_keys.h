#pragma once

#include <string>
#include <vector>

namespace tessera::app {

// A configuration key, as "key=value" names it.
struct ConfigurationKey {
  std::string name, help;
  std::vector<std::string> values;  // of a choice, or true and false; else empty
  bool path = false;                // whether the value is a file or a folder
};

// Sorted by name.
std::vector<ConfigurationKey> recipe_keys();  // of recipes for text, images and autoencoders
std::vector<ConfigurationKey> flow_keys();    // of `tessera flow`

}  // namespace tessera::app
