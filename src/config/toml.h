#pragma once

// toml++ without its assertions, whatever the build. Version 3.3 asserts that a key begins
// correctly before it has checked that: "[.a]" would end a program with assertions, and is
// undefined behaviour if a compiler assumes that they hold.
#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include <string>
#include <string_view>

namespace tessera {

// Calls toml::parse(). Its code takes ten seconds to compile, so only one file includes it.
//   source  what errors say it comes from
toml::table parse_toml(std::string_view text, const std::string& source = {});

}  // namespace tessera
