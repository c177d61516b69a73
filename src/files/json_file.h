#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>
#include <string_view>

namespace tessera {

// What a JSON file holds. Throws Error, which names the file, if it cannot be read, is not a
// regular file or is very large (base/regular_file.h), is not JSON, or nests too deeply:
// "'x.json' is damaged: ...".
//   hint  what to do about it
nlohmann::ordered_json read_json(const std::filesystem::path& path, const std::string& hint = "");

// What a text holds; a discarded value if it is not JSON or nests too deeply.
nlohmann::ordered_json parse_json(std::string_view text);

// What is wrong with a value, in words for people: "'width' is missing", "a number is expected, not
// a string".
std::string json_problem(const nlohmann::json::exception& error);

}  // namespace tessera
