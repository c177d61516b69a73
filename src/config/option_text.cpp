#include "config/option_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <limits>

namespace tessera::config {
namespace {

bool has_bounds(const Option& option) {
  return std::isfinite(option.low) || std::isfinite(option.high);
}

std::string bounds_text(const Option& option) {
  if (!has_bounds(option)) return "";
  if (std::isinf(option.high))
    return fmt::format("{} {}", option.low_excluded ? "above" : "of at least", option.low);
  return fmt::format("in {}{}, {}]", option.low_excluded ? "(" : "[", option.low, option.high);
}

// A value as TOML has it.
struct TomlText {
  std::string operator()(const std::string& text) const {
    std::string quoted = "\"";
    for (const char c : text) {
      const auto byte = static_cast<unsigned char>(c);
      if (c == '"' || c == '\\')
        quoted += {'\\', c};
      else if (c == '\n')
        quoted += "\\n";
      else if (c == '\t')
        quoted += "\\t";
      else if (byte < 0x20 || byte == 0x7f)
        quoted += fmt::format("\\u{:04X}", byte);
      else
        quoted += c;
    }
    return quoted + '"';
  }
  std::string operator()(std::monostate) const { return (*this)(std::string(kNoValue)); }
  std::string operator()(bool value) const { return value ? "true" : "false"; }
  std::string operator()(int64_t value) const { return fmt::format("{}", value); }
  std::string operator()(uint64_t value) const {
    const bool too_large = value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
    return too_large ? fmt::format("\"{}\"", value) : fmt::format("{}", value);
  }
  std::string operator()(double value) const {
    std::string text = fmt::format("{}", value);  // the shortest that reads back exactly
    if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  template <class T>
  std::string operator()(const std::vector<T>& list) const {
    std::vector<std::string> items;
    for (const T& item : list) items.push_back((*this)(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
};

}  // namespace

std::string text_of(const Value& value) {
  return std::visit(
      [](const auto& held) -> std::string {
        if constexpr (std::is_same_v<std::decay_t<decltype(held)>, std::monostate>)
          return std::string(kNoValue);
        else
          return fmt::format("{}", held);
      },
      value);
}

std::string toml_text(const Value& value) {
  return std::visit(TomlText(), value);
}

std::string type_text(const Option& option) {
  const std::string bounds = bounds_text(option);
  const std::string single = bounds.empty() ? "" : " " + bounds;
  const std::string each = bounds.empty() ? "" : ", each " + bounds;
  switch (option.kind) {
    case Kind::boolean:
      return "true or false";
    case Kind::integer:
      return "integer" + single;
    case Kind::unsigned_integer:
      return bounds.empty() ? "non-negative integer" : "integer" + single;
    case Kind::number:
      return "number" + single;
    case Kind::optional_number:
      return fmt::format("number{} or \"{}\"", single, kNoValue);
    case Kind::string:
      return "string";
    case Kind::path:
      return "path";
    case Kind::choice:
      return fmt::format("{}", fmt::join(option.names, " | "));
    case Kind::integer_list:
      return "list of integers" + each;
    case Kind::number_list:
      return "list of numbers" + each;
    case Kind::string_list:
      return "list of strings";
  }
  return "";
}

std::string demand_text(const Option& option) {
  const std::string type = type_text(option);
  if (option.kind == Kind::boolean) return type;
  if (option.kind == Kind::choice) return fmt::format("one of {}", fmt::join(option.names, ", "));
  return (type.starts_with("integer") ? "an " : "a ") + type;
}

}  // namespace tessera::config
