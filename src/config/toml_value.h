#pragma once

#include "config/option.h"
#include "config/toml.h"

#include <optional>
#include <string>
#include <vector>

namespace tessera::config {

// Reads the value of a key. Nothing if that fails: `problems` then says why.
//   where  what messages begin with: "recipes/x.toml:12: "
std::optional<Assignment> read_value(const Options& options, const std::string& key,
                                     const toml::node& node, const std::string& where,
                                     std::vector<std::string>& problems);

}  // namespace tessera::config
