#pragma once

#include <fmt/format.h>
#include <CLI/CLI.hpp>

#include <cstdint>
#include <filesystem>
#include <string>

// Checks of command-line options, in words a person understands.
namespace tessera::app {

inline CLI::Validator whole_number(int64_t low, int64_t high = INT64_MAX) {
  return CLI::Validator(
      [low, high](std::string& text) {
        int64_t value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high)
          return std::string();
        return high == INT64_MAX
                   ? fmt::format("must be a whole number of at least {}, got {}", low, text)
                   : fmt::format("must be a whole number from {} to {}, got {}", low, high, text);
      },
      "");
}

inline CLI::Validator number_in(double low, double high) {
  return CLI::Validator(
      [low, high](std::string& text) {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high)
          return std::string();
        return fmt::format("must be a number from {} to {}, got {}", low, high, text);
      },
      "");
}

// A file whose folder exists: checked before the work, not after it.
inline CLI::Validator file_to_write() {
  return CLI::Validator(
      [](std::string& text) {
        const auto folder = std::filesystem::path(text).parent_path();
        std::error_code ignored;
        if (folder.empty() || std::filesystem::is_directory(folder, ignored)) return std::string();
        return fmt::format("there is no folder '{}' to write it to", folder.string());
      },
      "");
}

}  // namespace tessera::app
