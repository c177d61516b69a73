#pragma once

#include "config/option.h"

#include <string>
#include <string_view>

// Options and their values in words.
namespace tessera::config {

// How "no value" is written.
constexpr std::string_view kNoValue = "none";

// A value for people to read, without quotes: "0.5", "ot", "[1, 2]", "none".
std::string text_of(const Value& value);

// A value as TOML has it.
std::string toml_text(const Value& value);

// What an option takes: "number in [0, 1]", "list of integers, each of at least 1", "ot | ve".
std::string type_text(const Option& option);
// The same, to follow "must be".
std::string demand_text(const Option& option);

}  // namespace tessera::config
