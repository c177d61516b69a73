#include "files/json_file.h"

#include "base/regular_file.h"

#include <tessera/base/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace tessera {
namespace {

// Levels of nested lists and objects. Copying and printing values is recursive, and the stack is
// small. None of our files nests more than ten levels.
constexpr size_t kDeepest = 100;

// How deep a text nests; any number if it is not JSON.
size_t depth_of(std::string_view text) {
  size_t depth = 0, deepest = 0;
  bool quoted = false;
  for (size_t k = 0; k < text.size(); ++k) {
    const char c = text[k];
    if (c == '"')
      quoted = !quoted;
    else if (quoted && c == '\\')
      ++k;
    else if (!quoted && (c == '[' || c == '{'))
      deepest = std::max(deepest, ++depth);
    else if (!quoted && (c == ']' || c == '}') && depth > 0)
      --depth;
  }
  return deepest;
}

// The text between two others, or an empty one.
std::string_view between(std::string_view text, std::string_view before, std::string_view after) {
  const size_t begin = text.find(before);
  if (begin == std::string_view::npos) return {};
  text.remove_prefix(begin + before.size());
  return text.substr(0, text.find(after));
}

std::string named(std::string_view type) {
  if (type == "null") return "null";
  return (type == "array" || type == "object" ? "an " : "a ") + std::string(type);
}

}  // namespace

std::string json_problem(const nlohmann::json::exception& error) {
  constexpr int kWrongType = 302, kNoKey = 403;
  // The library's text begins with its own name and the number of the error in brackets.
  std::string_view text = error.what();
  if (const size_t end = text.find("] "); end != std::string_view::npos)
    text.remove_prefix(end + 2);
  if (error.id == kNoKey) return fmt::format("'{}' is missing", between(text, "key '", "' not"));
  if (error.id == kWrongType)
    return fmt::format("{} is expected, not {}", named(between(text, "must be ", ", but")),
                       named(between(text, "but is ", "\n")));
  // "parse error at line 1, column 9: syntax error while parsing value - ..."
  if (const auto place = between(text, "parse error at ", ":"); !place.empty())
    return fmt::format("it is not JSON from {} on", place);
  return std::string(text);
}

nlohmann::ordered_json read_json(const std::filesystem::path& path, const std::string& hint) {
  const std::string text = read_file(path, kMostSettingsBytes);
  if (depth_of(text) > kDeepest)
    throw Error(fmt::format("'{}' is damaged: it nests more than {} lists and objects",
                            path.string(), kDeepest),
                hint);
  try {
    return nlohmann::ordered_json::parse(text);
  } catch (const nlohmann::json::exception& error) {
    throw Error(fmt::format("'{}' is damaged: {}", path.string(), json_problem(error)), hint);
  }
}

nlohmann::ordered_json parse_json(std::string_view text) {
  if (depth_of(text) > kDeepest)
    return nlohmann::ordered_json(nlohmann::ordered_json::value_t::discarded);
  return nlohmann::ordered_json::parse(text, nullptr, /*allow_exceptions=*/false);
}

}  // namespace tessera
