#include "config/option.h"

#include "base/nearest_name.h"

#include <tessera/base/error.h>

#include <fmt/format.h>

#include <algorithm>

namespace tessera::config {

std::pair<std::string_view, std::string_view> split_key(std::string_view key) {
  const size_t dot = key.rfind('.');
  if (dot == std::string_view::npos) return {"", key};
  return {key.substr(0, dot), key.substr(dot + 1)};
}

Option& Options::add(const std::string& key) {
  for (const Option& other : all_)
    if (other.key == key || other.key.starts_with(key + ".") || key.starts_with(other.key + "."))
      throw Error(fmt::format("option '{}' collides with '{}'", key, other.key));
  Option& added = all_.emplace_back();
  added.key = key;
  return added;
}

const Option* Options::find(std::string_view key) const {
  const auto found = std::ranges::find(all_, key, &Option::key);
  return found == all_.end() ? nullptr : &*found;
}

bool Options::is_table(std::string_view key) const {
  const std::string prefix = std::string(key) + ".";
  return std::ranges::any_of(all_,
                             [&](const Option& option) { return option.key.starts_with(prefix); });
}

std::string Options::suggestion(std::string_view key) const {
  std::vector<std::string_view> known;
  for (const Option& option : all_) {
    known.push_back(option.key);
    for (auto table = split_key(option.key).first; !table.empty(); table = split_key(table).first)
      known.push_back(table);
  }
  if (std::string near = did_you_mean(key, known); !near.empty()) return near;
  // A right name in the wrong table differs by too many letters to be found above.
  for (const Option& option : all_)
    if (split_key(option.key).second == split_key(key).second)
      return did_you_mean(option.key, {option.key});
  return "";
}

}  // namespace tessera::config
