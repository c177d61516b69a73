#pragma once

#include "report/run_record.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::report {

// A line of what `tessera generate --json` prints.
struct TranslatedText {
  std::string source, text;
  std::vector<std::string> others;           // candidates with another text, the best first
  std::optional<Condensation> condensation;  // if its steps were shown
};

// Throws Error, which names the line, for anything else.
std::vector<TranslatedText> read_translations(const std::filesystem::path& file);

// What a translator makes of some sentences, as a section of a page (HTML).
std::string translations_section(std::span<const TranslatedText> texts);

// Images that a model made, likewise.
//   uri  of a PNG, for HTML
std::string picture_section(const std::string& uri, const std::string& title);

}  // namespace tessera::report
