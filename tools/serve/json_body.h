#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace tessera::serve {

// JSON of a client: at most 16 levels deep, UTF-8, one value. Throws Refusal (400).
nlohmann::json parse_json(std::string_view body);

// JSON for a client; bytes that are not UTF-8 are replaced.
std::string dump_json(const nlohmann::ordered_json& value);

}  // namespace tessera::serve
