#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <variant>
#include <vector>

#include "config/recipe_reader.h"
#include "tessera/base/enum_names.h"

// Configuration, declared once. A function binds the fields of a plain struct to dotted keys,
//
//   void declare(config::Schema& schema, const std::string& prefix, ProcessOptions& options) {
//     schema.option(prefix + "r", options.r, "confidence factor").range(0, 1);
//     schema.option(prefix + "trajectory", options.trajectory, "path from data to noise");
//   }
//
// and the same declaration reads TOML files and overrides from the command line, prints the
// configuration in effect and the table for the documents. The defaults are what the fields hold
// when they are bound. Files override them, later files override earlier ones, and overrides
// override files.
//
//   config::Schema schema;
//   declare(schema, "process.", options);
//   schema.read_file("recipes/x.toml");
//   schema.apply_override("process.r=0.5");
//   schema.finish();
namespace tessera::config {

namespace detail {

template <class T>
constexpr bool is_choice = std::is_enum_v<T>;

template <class T>
constexpr Kind kind_of() {
  if constexpr (std::is_same_v<T, bool>)
    return Kind::boolean;
  else if constexpr (std::is_same_v<T, int64_t>)
    return Kind::integer;
  else if constexpr (std::is_same_v<T, uint64_t>)
    return Kind::unsigned_integer;
  else if constexpr (std::is_same_v<T, double>)
    return Kind::number;
  else if constexpr (std::is_same_v<T, std::optional<double>>)
    return Kind::optional_number;
  else if constexpr (std::is_same_v<T, std::string>)
    return Kind::string;
  else if constexpr (std::is_same_v<T, std::filesystem::path>)
    return Kind::path;
  else if constexpr (std::is_same_v<T, std::vector<int64_t>>)
    return Kind::integer_list;
  else if constexpr (std::is_same_v<T, std::vector<double>>)
    return Kind::number_list;
  else if constexpr (std::is_same_v<T, std::vector<std::string>>)
    return Kind::string_list;
  else {
    static_assert(is_choice<T>, "an option cannot have a field of this type");
    return Kind::choice;
  }
}

template <class T>
Value to_value(const T& field) {
  if constexpr (is_choice<T>)
    return std::string(name_of(field));
  else if constexpr (std::is_same_v<T, std::filesystem::path>)
    return field.string();
  else if constexpr (std::is_same_v<T, std::optional<double>>)
    return field ? Value(*field) : Value();
  else
    return field;
}

template <class T>
T from_value(const Value& value) {
  if constexpr (is_choice<T>)
    return parse_name<T>(std::get<std::string>(value));
  else if constexpr (std::is_same_v<T, std::filesystem::path>)
    return std::get<std::string>(value);
  else if constexpr (std::is_same_v<T, std::optional<double>>)
    return value.index() == 0 ? std::nullopt : std::optional(std::get<double>(value));
  else
    return std::get<T>(value);
}

}  // namespace detail

// What Schema::option() returns, to say more about the option:
//   schema.option("width", options.width, "...").at_least(8).check(is_even, "an even number");
template <class T>
class Constraints {
 public:
  explicit Constraints(Option& option) : option_(option) {}

  // Bounds, inclusive; of every element if the option is a list.
  Constraints& range(double low, double high) {
    option_.low = low;
    option_.high = high;
    return *this;
  }
  Constraints& at_least(double low) {
    option_.low = low;
    return *this;
  }
  Constraints& above(double low) {
    option_.low = low;
    option_.low_excluded = true;
    return *this;
  }

  // Any other condition. `demand` completes "'key' must be ...".
  Constraints& check(std::function<bool(const T&)> passes, std::string demand) {
    option_.checks.push_back({[passes = std::move(passes)](const Value& value) {
                                return passes(detail::from_value<T>(value));
                              },
                              std::move(demand)});
    return *this;
  }

  // It may have another value in a resumed run: it plays no part in the mathematics of the updates
  // made so far.
  //   condition  evaluated when the fields are set
  Constraints& may_change(std::function<bool()> condition = [] { return true; }) {
    option_.may_change = std::move(condition);
    return *this;
  }

 private:
  Option& option_;
};

// The options of a program, where their values come from, and what is wrong with them. The fields
// must outlive the schema.
class Schema {
 public:
  Schema() = default;
  Schema(const Schema&) = delete;
  Schema& operator=(const Schema&) = delete;

  // Binds a field. T is bool, int64_t, uint64_t, double, std::string, std::filesystem::path, an
  // enum with EnumNames, std::optional<double>, or a std::vector of int64_t, double or std::string.
  template <class T>
  Constraints<T> option(const std::string& key, T& field, std::string help) {
    std::vector<std::string_view> names;
    if constexpr (detail::is_choice<T>)
      for (const auto& [value, name] : EnumNames<T>::values) names.push_back(name);
    return Constraints<T>(add(
        key, std::move(help), detail::kind_of<T>(), std::move(names),
        [&field] { return detail::to_value(field); },
        [&field](const Value& value) { field = detail::from_value<T>(value); }));
  }

  // Read values. What is wrong with them is kept for finish(). recipe_reader.h says what a file may
  // have beside options.
  void read_file(const std::filesystem::path& path) { files_.read_file(path); }
  void read_text(std::string_view toml, const std::string& source_name) {
    files_.read_text(toml, source_name);
  }

  // What a person should know about the files that were read, a sentence each.
  const std::vector<std::string>& warnings() const { return files_.warnings(); }

  // "key=value", the value as in TOML; words need no quotes.
  void apply_override(std::string_view assignment);

  // The key of such an assignment; it need not exist.
  static std::string overridden_key(std::string_view assignment);

  // A value that comes from elsewhere (JSON); it counts like one from a file.
  void set(const std::string& key, const Value& value, const std::string& source_name);

  // What has been read for a key so far, before finish(); none: nothing valid. For keys that decide
  // which other keys exist.
  std::optional<Value> read_so_far(std::string_view key) const;

  // The option of that key; null: none.
  const Option* find(std::string_view key) const { return options_.find(key); }

  // What the fields hold now, by key.
  std::map<std::string, Value> values() const;

  // All options that `declare` adds may change in a resumed run.
  void changeable(const std::function<void()>& declare);

  // Options that `declare` adds have an effect only if used() holds, which is evaluated when the
  // fields are set. Files may set them anyway, as one file may serve several models; an override
  // without effect is a mistake.
  //   user  "models of kind 'ar'"
  void only_for(std::string user, std::function<bool()> used, const std::function<void()>& declare);

  // Whether an existing key may change, given what the fields hold now.
  bool may_change(std::string_view key) const;

  // Checks everything that was read. If all is well, sets the fields. Otherwise throws UsageError,
  // which lists every problem, one per line, and leaves all fields as they were:
  //   recipes/x.toml:12: unknown key 'process.trajectroy' (did you mean 'process.trajectory'?)
  //   recipes/x.toml:7: 'process.r' must be a number in [0, 1], got "abc"
  void finish();

  // TOML with the values the fields hold now, each after a comment that explains it. Reading it
  // gives the same values, doubles to the last bit.
  std::string dump() const;

  // The options as a Markdown table: key, type, default, meaning.
  std::string markdown() const;

 private:
  Option& add(const std::string& key, std::string help, Kind kind,
              std::vector<std::string_view> names, std::function<Value()> get,
              std::function<void(const Value&)> set);
  std::vector<Option*> added_by(const std::function<void()>& declare);
  std::vector<std::string> misfits() const;  // files whose needs are not met

  Options options_;
  std::vector<Assignment> from_files_;
  std::vector<Assignment> from_overrides_;
  std::vector<std::string> problems_;
  RecipeReader files_{options_, from_files_, problems_};
};

}  // namespace tessera::config
