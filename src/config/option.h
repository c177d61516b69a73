#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

namespace tessera::config {

// The value of an option, whatever its field is: enums and paths are strings, std::monostate is an
// optional without a value.
using Value = std::variant<std::monostate, bool, int64_t, uint64_t, double, std::string,
                           std::vector<int64_t>, std::vector<double>, std::vector<std::string>>;

// What kind of value an option takes.
enum class Kind {
  boolean,
  integer,
  unsigned_integer,  // from 2^63 on, where TOML has no integers, a string of digits
  number,            // integers are numbers too
  optional_number,   // or "none"
  string,
  path,
  choice,  // one of a list of names
  integer_list,
  number_list,
  string_list,
};

// One option, as Schema keeps it.
struct Option {
  std::string key;   // "process.r"
  std::string help;  // one sentence or two
  Kind kind = Kind::boolean;
  std::vector<std::string_view> names;  // of a choice
  std::function<Value()> get;           // from the field
  std::function<void(const Value&)> set;
  Value initial;  // the default

  // Bounds of a number, or of every number of a list.
  double low = -std::numeric_limits<double>::infinity();
  double high = std::numeric_limits<double>::infinity();
  bool low_excluded = false;

  struct Check {
    std::function<bool(const Value&)> passes;
    std::string demand;  // "must be ..."
  };
  std::vector<Check> checks;

  // Whether a resumed run may change the value, given what the fields hold; none: it may not.
  std::function<bool()> may_change;

  // Whether the option has an effect, given what the fields hold; none: always.
  std::function<bool()> used;
  std::string user;  // what uses it: "models of kind 'ar'"
};

// The options of a schema, in the order of declaration.
class Options {
 public:
  Option& add(const std::string& key);  // Error if it collides with another

  const Option* find(std::string_view key) const;  // null: none
  bool is_table(std::string_view key) const;       // whether there are options below it
  // " (did you mean ...?)" for an unknown key; empty if no key is similar.
  std::string suggestion(std::string_view key) const;

  std::deque<Option>& all() { return all_; }
  const std::deque<Option>& all() const { return all_; }

 private:
  std::deque<Option> all_;  // a deque: options keep their addresses
};

// The last part of a dotted key, and what is before it: "process" and "r".
std::pair<std::string_view, std::string_view> split_key(std::string_view key);

// A value that was read.
struct Assignment {
  const Option* option;
  Value value;
};

}  // namespace tessera::config
