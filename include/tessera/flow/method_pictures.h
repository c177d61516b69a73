#pragma once

#include <tessera/base/api.h>

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace tessera {

// The method in the plane: cells, paths, clocks, and what small networks learn with and without the
// boundary. Takes a minute or two on a CPU.
//   settings  "flow.codes=9": docs/options.md has the keys under `flow`
//   returns   files by name: index.html, which needs none of the others, and drawings (SVG)
// Throws UsageError for settings that make no sense.
TESSERA_API std::map<std::string, std::string> method_pictures(
    const std::vector<std::string>& settings = {}, uint64_t seed = 1);

}  // namespace tessera
