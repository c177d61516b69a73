#pragma once

#include <filesystem>
#include <string>

namespace tessera::report {

// The name of a run: that of its folder, however the folder is named ("runs/a/", ".").
std::string run_name(const std::filesystem::path& folder);

}  // namespace tessera::report
