#include "config/toml_value.h"

#include "base/nearest_name.h"
#include "config/option_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

namespace tessera::config {
namespace {

// The value as one type; nothing if it is of another.

std::optional<double> as_number(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return static_cast<double>(whole->get());
  if (const auto* number = node.as_floating_point(); number && std::isfinite(number->get()))
    return number->get();
  return std::nullopt;
}

std::optional<int64_t> as_integer(const toml::node& node) {
  if (const auto* whole = node.as_integer()) return whole->get();
  return std::nullopt;
}

std::optional<uint64_t> as_unsigned(const toml::node& node) {
  if (const auto whole = as_integer(node))
    return *whole >= 0 ? std::optional(static_cast<uint64_t>(*whole)) : std::nullopt;
  const auto* digits = node.as_string();
  if (!digits) return std::nullopt;
  uint64_t value = 0;
  const std::string& text = digits->get();
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (failure != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::string> as_string(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  return std::nullopt;
}

template <class T>
std::optional<Value> as_list(const toml::node& node,
                             std::optional<T> (*element)(const toml::node&)) {
  const toml::array* array = node.as_array();
  if (!array) return std::nullopt;
  std::vector<T> list;
  for (const toml::node& item : *array) {
    auto converted = element(item);
    if (!converted) return std::nullopt;
    list.push_back(std::move(*converted));
  }
  return list;
}

template <class T>
std::optional<Value> as_value(std::optional<T> content) {
  if (!content) return std::nullopt;
  return Value(std::move(*content));
}

std::optional<Value> to_value(const Option& option, const toml::node& node) {
  switch (option.kind) {
    case Kind::boolean:
      return node.is_boolean() ? as_value(node.value<bool>()) : std::nullopt;
    case Kind::integer:
      return as_value(as_integer(node));
    case Kind::unsigned_integer:
      return as_value(as_unsigned(node));
    case Kind::optional_number:
      if (as_string(node) == kNoValue) return Value();
      [[fallthrough]];
    case Kind::number:
      return as_value(as_number(node));
    case Kind::string:
    case Kind::path:
      return as_value(as_string(node));
    case Kind::choice: {
      const auto name = as_string(node);
      const bool known =
          name && std::find(option.names.begin(), option.names.end(), *name) != option.names.end();
      return known ? as_value(name) : std::nullopt;
    }
    case Kind::integer_list:
      return as_list<int64_t>(node, as_integer);
    case Kind::number_list:
      return as_list<double>(node, as_number);
    case Kind::string_list:
      return as_list<std::string>(node, as_string);
  }
  return std::nullopt;
}

bool within_bounds(const Option& option, const Value& value) {
  const auto within = [&option](auto number) {
    const auto x = static_cast<double>(number);
    return x <= option.high && (option.low_excluded ? x > option.low : x >= option.low);
  };
  return std::visit(
      [&within](const auto& content) {
        using T = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<T, int64_t> || std::is_same_v<T, uint64_t> ||
                      std::is_same_v<T, double>)
          return within(content);
        else if constexpr (std::is_same_v<T, std::vector<int64_t>> ||
                           std::is_same_v<T, std::vector<double>>)
          return std::all_of(content.begin(), content.end(), within);
        else
          return true;
      },
      value);
}

std::string written(const toml::node& node) {
  if (const auto* text = node.as_string()) return toml_text(text->get());
  if (const auto* number = node.as_floating_point()) return toml_text(number->get());
  if (node.is_table()) return "a table";
  if (const toml::array* array = node.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *array) items.push_back(written(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  std::ostringstream out;
  node.visit([&out](const auto& content) { out << content; });
  return out.str();
}

// What a person wrote, short enough for a message.
std::string shown(const toml::node& node) {
  constexpr size_t longest = 60;
  const std::string text = written(node);
  if (text.size() <= longest) return text;
  size_t end = longest;  // not within a character
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

}  // namespace

std::optional<Assignment> read_value(const Options& options, const std::string& key,
                                     const toml::node& node, const std::string& where,
                                     std::vector<std::string>& problems) {
  const Option* const option = options.find(key);
  if (option == nullptr) {
    problems.push_back(options.is_table(key)
                           ? fmt::format("{}'{}' is a table, not an option", where, key)
                           : fmt::format("{}unknown {} '{}'{}", where,
                                         node.is_table() ? "table" : "key", key,
                                         options.suggestion(key)));
    return std::nullopt;
  }
  const auto refuse = [&](const std::string& demand, const std::string& end = "") {
    problems.push_back(
        fmt::format("{}'{}' must be {}, got {}{}", where, key, demand, shown(node), end));
    return std::nullopt;
  };
  std::optional<Value> value = to_value(*option, node);
  if (!value || !within_bounds(*option, *value)) {
    const auto name = as_string(node);
    return refuse(demand_text(*option), name && option->kind == Kind::choice
                                            ? did_you_mean(*name, option->names)
                                            : std::string());
  }
  for (const Option::Check& check : option->checks)
    if (!check.passes(*value)) return refuse(check.demand);
  return Assignment{option, std::move(*value)};
}

}  // namespace tessera::config
