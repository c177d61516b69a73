#pragma once

#include <tessera/base/api.h>

#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

// The names of an option's values, as configuration files, messages and documents spell them. Every
// enum that is an option specialises this with
//   static constexpr std::string_view what = "trajectory";
//   static constexpr std::array<std::pair<E, std::string_view>, n> values = ...;
template <class E>
struct EnumNames;

namespace detail {
// Throws UsageError: unknown `what` 'name' (did you mean '...'?), with all names listed in the
// hint.
[[noreturn]] TESSERA_API void throw_unknown_name(std::string_view what, std::string_view name,
                                                 const std::vector<std::string_view>& known);
}  // namespace detail

template <class E>
constexpr std::string_view name_of(E value) {
  for (const auto& [candidate, name] : EnumNames<E>::values)
    if (candidate == value) return name;
  return "?";
}

// The value of that name. Throws UsageError, which lists all names.
//   others  further names, which the caller handles itself: only listed
template <class E>
E parse_name(std::string_view name, std::vector<std::string_view> others = {}) {
  std::vector<std::string_view> known = std::move(others);
  for (const auto& [value, candidate] : EnumNames<E>::values) {
    if (candidate == name) return value;
    known.push_back(candidate);
  }
  detail::throw_unknown_name(EnumNames<E>::what, name, known);
}

}  // namespace tessera
