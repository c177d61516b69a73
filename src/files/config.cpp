#include "files/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <sstream>

#include "base/nearest_name.h"
#include "files/regular_file.h"
#include "files/toml.h"
#include "tessera/base/error.h"

namespace tessera::config {
namespace {

constexpr std::string_view kNoValue = "none";

// ---- the values of an option, in words

bool has_bounds(const Option& option) {
  return std::isfinite(option.low) || std::isfinite(option.high);
}

std::string bounds_text(const Option& option) {
  if (!has_bounds(option)) return "";
  if (std::isinf(option.high))
    return fmt::format("{} {}", option.low_excluded ? "above" : "of at least", option.low);
  return fmt::format("in {}{}, {}]", option.low_excluded ? "(" : "[", option.low, option.high);
}

// "number in [0, 1]", "list of integers, each of at least 1", "ot | ve"
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

// The same after "must be".
std::string demand_text(const Option& option) {
  const std::string type = type_text(option);
  if (option.kind == Kind::boolean) return type;
  if (option.kind == Kind::choice) return fmt::format("one of {}", fmt::join(option.names, ", "));
  return (type.starts_with("integer") ? "an " : "a ") + type;
}

// ---- values as TOML

std::string toml_text(const std::string& text) {
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

std::string toml_text(std::monostate) {
  return toml_text(std::string(kNoValue));
}

std::string toml_text(bool value) {
  return value ? "true" : "false";
}

std::string toml_text(int64_t value) {
  return fmt::format("{}", value);
}

std::string toml_text(uint64_t value) {
  const bool too_large = value > static_cast<uint64_t>(std::numeric_limits<int64_t>::max());
  return too_large ? fmt::format("\"{}\"", value) : fmt::format("{}", value);
}

std::string toml_text(double value) {
  std::string text = fmt::format("{}", value);  // the shortest that reads back exactly
  if (std::isfinite(value) && text.find_first_of(".e") == std::string::npos) text += ".0";
  return text;
}

template <class T>
std::string toml_text(const std::vector<T>& list) {
  std::vector<std::string> items;
  for (const T& item : list) items.push_back(toml_text(item));
  return fmt::format("[{}]", fmt::join(items, ", "));
}

std::string toml_text(const Value& value) {
  return std::visit([](const auto& content) { return toml_text(content); }, value);
}

std::string toml_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return toml_text(text->get());
  if (const auto* number = node.as_floating_point()) return toml_text(number->get());
  if (node.is_table()) return "a table";
  if (const toml::array* array = node.as_array()) {
    std::vector<std::string> items;
    for (const toml::node& item : *array) items.push_back(toml_text(item));
    return fmt::format("[{}]", fmt::join(items, ", "));
  }
  std::ostringstream out;
  node.visit([&out](const auto& content) { out << content; });
  return out.str();
}

// What a person wrote, shortened for a message.
std::string shown(const toml::node& node) {
  constexpr size_t longest = 60;
  const std::string text = toml_text(node);
  if (text.size() <= longest) return text;
  size_t end = longest;  // not within a character
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xc0) == 0x80) --end;
  return text.substr(0, end) + "...";
}

// ---- from TOML to values; nothing if the type is wrong

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

// ---- constraints

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

// ---- keys

// The last part of a dotted key, and what is before it.
std::pair<std::string_view, std::string_view> split_key(std::string_view key) {
  const size_t dot = key.rfind('.');
  if (dot == std::string_view::npos) return {"", key};
  return {key.substr(0, dot), key.substr(dot + 1)};
}

bool is_plain_key(std::string_view key) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !key.empty() && std::all_of(key.begin(), key.end(), plain);
}

// `text` as lines of comment.
std::string comment(const std::string& text) {
  constexpr size_t longest = 98;
  std::string lines, line;
  std::istringstream words(text);
  for (std::string word; words >> word;) {
    if (!line.empty() && line.size() + 1 + word.size() > longest) {
      lines += "# " + line + "\n";
      line.clear();
    }
    line += (line.empty() ? "" : " ") + word;
  }
  return lines + "# " + line + "\n";
}

std::string table_cell(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '|') escaped += '\\';
    escaped += c == '\n' ? ' ' : c;
  }
  return escaped;
}

std::string trimmed(std::string_view text) {
  const size_t begin = text.find_first_not_of(" \t");
  if (begin == std::string_view::npos) return "";
  return std::string(text.substr(begin, text.find_last_not_of(" \t") + 1 - begin));
}

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

// Turns TOML into assignments and problems of a schema.
struct Schema::Reader {
  Schema& schema;
  std::vector<Assignment>& assignments;

  // toml++ sorts the keys of a table by name; problems are listed in the order of the file.
  struct Found {
    toml::source_position position;
    std::string key;
    const toml::node* node;
  };

  bool is_table_of_options(const std::string& key) const {
    return std::any_of(schema.options_.begin(), schema.options_.end(),
                       [&](const auto& option) { return option->key.starts_with(key + "."); });
  }

  // Keys that are not options but concern the files themselves.
  static bool is_about_files(std::string_view key) {
    return key == "include" || key == "old_name" || key == "needs" || key == "method";
  }

  static void sort(std::vector<Found>& found) {
    std::sort(found.begin(), found.end(),
              [](const Found& a, const Found& b) { return a.position < b.position; });
  }

  void collect(const toml::table& table, const std::string& prefix, std::vector<Found>& found) {
    for (const auto& [key, node] : table) {
      const std::string name(key.str());
      const std::string full = prefix + (is_plain_key(name) ? name : toml_text(name));
      if (node.is_table() && is_table_of_options(full))
        collect(*node.as_table(), full + ".", found);
      else
        found.push_back({key.source().begin, full, &node});
    }
  }

  void complain(const std::string& source, const toml::node& node, const std::string& what) {
    schema.problems_.push_back(fmt::format("{}:{}: {}", source, node.source().begin.line, what));
  }

  // Reads a file, once.
  //   where  "FILE:LINE: " of the include that names it
  void read_file(const std::filesystem::path& path, const std::string& where) {
    std::error_code ignored;
    const std::filesystem::path full = std::filesystem::weakly_canonical(path, ignored);
    for (const ReadFile& other : schema.files_) {
      if (other.path != full) continue;
      schema.problems_.push_back(
          fmt::format("{}'{}' {}", where, path.string(),
                      other.to_its_end ? "was read before: name it once" : "includes itself"));
      return;
    }
    std::string text;
    try {
      text = tessera::read_file(path, kMostSettingsBytes);
    } catch (const Error& error) {
      schema.problems_.push_back(where + error.what());
      return;
    }
    const size_t place = schema.files_.size();
    schema.files_.push_back({full, false});
    read_text(text, path.string());
    schema.files_[place].to_its_end = true;
    // What earlier files say about this method.
    const auto more = schema.of_methods_.find(path.stem().string());
    if (more != schema.of_methods_.end())
      assignments.insert(assignments.end(), more->second.begin(), more->second.end());
  }

  void read_text(std::string_view text, const std::string& source) {
    try {
      toml::table document = toml::parse(text);
      if (is_table_of_results(document)) {
        schema.misplaced_.push_back(
            fmt::format("'{0}' is a table of results: `tessera experiment {0}` makes it", source));
        return;
      }
      const std::vector<std::string> included = include(document, source);
      old_name(document, source, included);
      needs(document, source);
      read(document, source);
      of_methods(document, source);
      schema.anything_read_ = true;
    } catch (const toml::parse_error& error) {
      schema.problems_.push_back(
          fmt::format("{}:{}: {}", source, error.source().begin.line, error.description()));
    }
  }

  // Whether it is a file of recipes/tables.
  bool is_table_of_results(const toml::table& document) const {
    for (const char* key : {"cell", "columns", "distilled", "front", "title"})
      if (document.contains(key) && schema.find(key) == nullptr && !is_table_of_options(key))
        return true;
    return false;
  }

  // Reads the files that `include` names first. Returns them.
  std::vector<std::string> include(const toml::table& document, const std::string& source) {
    std::vector<std::string> files;
    const toml::node* named = document.get("include");
    if (named == nullptr) return files;
    const auto add = [&](const toml::node& node) {
      const auto* name = node.as_string();
      if (name == nullptr)
        return complain(source, node, "'include' must be the name of a file, or a list of names");
      constexpr size_t kDeepest = 8;
      const auto open = std::count_if(schema.files_.begin(), schema.files_.end(),
                                      [](const ReadFile& file) { return !file.to_its_end; });
      if (static_cast<size_t>(open) > kDeepest)
        return complain(source, node, "files include each other too deeply");
      const auto path = std::filesystem::path(source).parent_path() / name->get();
      files.push_back(path.lexically_normal().string());
      read_file(path, fmt::format("{}:{}: ", source, node.source().begin.line));
    };
    if (const toml::array* list = named->as_array())
      for (const toml::node& node : *list) add(node);
    else
      add(*named);
    return files;
  }

  void old_name(const toml::table& document, const std::string& source,
                const std::vector<std::string>& included) {
    const toml::node* node = document.get("old_name");
    if (node == nullptr) return;
    if (!node->is_boolean())
      complain(source, *node, "'old_name' must be true or false");
    else if (node->as_boolean()->get())
      schema.warnings_.push_back(fmt::format("'{}' is an old name that will go: say {}", source,
                                             fmt::join(included, " ")));
  }

  // The option keys in a table like [needs] or [method.NAME].
  std::vector<Found> keys_of(const toml::node& node, const std::string& name,
                             const std::string& source) {
    std::vector<Found> found;
    if (const toml::table* table = node.as_table())
      collect(*table, "", found);
    else
      complain(source, node, fmt::format("'{}' must be a table of keys", name));
    sort(found);
    return found;
  }

  void needs(const toml::table& document, const std::string& source) {
    const toml::node* node = document.get("needs");
    if (node == nullptr) return;
    if (!schema.anything_read_)
      schema.misplaced_.push_back(fmt::format(
          "'{}' is a method: name a recipe of data before it (recipes/multi30k.toml {})", source,
          source));
    std::vector<Assignment> wanted;
    for (const Found& each : keys_of(*node, "needs", source))
      Reader{schema, wanted}.assign(each.key, *each.node,
                                    fmt::format("{}:{}: ", source, each.position.line));
    for (Assignment& each : wanted) schema.needs_.push_back({std::move(each), source});
  }

  void of_methods(const toml::table& document, const std::string& source) {
    const toml::node* node = document.get("method");
    if (node == nullptr) return;
    const toml::table* methods = node->as_table();
    if (methods == nullptr) return complain(source, *node, "'method' must be a table of methods");
    for (const auto& [key, section] : *methods) {
      const std::string name(key.str());
      const std::string shown_name = "method." + (is_plain_key(name) ? name : toml_text(name));
      for (const Found& each : keys_of(section, shown_name, source))
        Reader{schema, schema.of_methods_[name]}.assign(
            each.key, *each.node, fmt::format("{}:{}: ", source, each.position.line));
    }
  }

  void read(const toml::table& document, const std::string& source) {
    std::vector<Found> found;
    collect(document, "", found);
    sort(found);
    for (const Found& each : found)
      if (!is_about_files(each.key))
        assign(each.key, *each.node, fmt::format("{}:{}: ", source, each.position.line));
  }

  void assign(const std::string& key, const toml::node& node, const std::string& where) {
    const Option* const option = schema.find(key);
    if (option)
      assign(*option, node, where);
    else if (is_table_of_options(key))
      schema.problems_.push_back(fmt::format("{}'{}' is a table, not an option", where, key));
    else
      schema.problems_.push_back(fmt::format("{}unknown {} '{}'{}", where,
                                             node.is_table() ? "table" : "key", key,
                                             schema.suggestion(key)));
  }

  void assign(const Option& option, const toml::node& node, const std::string& where) {
    const auto complain = [&](const std::string& demand, const std::string& end = "") {
      schema.problems_.push_back(
          fmt::format("{}'{}' must be {}, got {}{}", where, option.key, demand, shown(node), end));
    };
    std::optional<Value> value = to_value(option, node);
    if (!value || !within_bounds(option, *value)) {
      const auto name = as_string(node);
      return complain(demand_text(option), name && option.kind == Kind::choice
                                               ? did_you_mean(*name, option.names)
                                               : std::string());
    }
    for (const Option::Check& check : option.checks)
      if (!check.passes(*value)) return complain(check.demand);
    assignments.push_back({&option, std::move(*value)});
  }
};

Option& Schema::add(Option option) {
  for (const auto& other : options_)
    if (other->key == option.key || other->key.starts_with(option.key + ".") ||
        option.key.starts_with(other->key + "."))
      throw Error(fmt::format("option '{}' collides with '{}'", option.key, other->key));
  options_.push_back(std::make_unique<Option>(std::move(option)));
  return *options_.back();
}

const Option* Schema::find(std::string_view key) const {
  for (const auto& option : options_)
    if (option->key == key) return option.get();
  return nullptr;
}

std::string Schema::suggestion(std::string_view key) const {
  std::vector<std::string_view> known;
  for (const auto& option : options_) {
    known.push_back(option->key);
    for (auto table = split_key(option->key).first; !table.empty(); table = split_key(table).first)
      known.push_back(table);
  }
  if (std::string near = did_you_mean(key, known); !near.empty()) return near;
  // The right name in the wrong table differs in too many letters to be found above.
  for (const auto& option : options_)
    if (split_key(option->key).second == split_key(key).second)
      return did_you_mean(option->key, {option->key});
  return "";
}

void Schema::read_file(const std::filesystem::path& path) {
  Reader{*this, from_files_}.read_file(path, "");
}

void Schema::read_text(std::string_view toml, const std::string& source_name) {
  Reader{*this, from_files_}.read_text(toml, source_name);
}

std::string Schema::overridden_key(std::string_view assignment) {
  return trimmed(assignment.substr(0, assignment.find('=')));
}

void Schema::apply_override(std::string_view assignment) {
  std::string where = fmt::format("override '{}': ", assignment);
  std::replace(where.begin(), where.end(), '\n', ' ');  // a problem is one line
  const size_t equals = assignment.find('=');
  if (equals == std::string_view::npos) {
    problems_.push_back(where + "must be of the form key=value");
    return;
  }
  const std::string key = overridden_key(assignment);
  const std::string text = trimmed(assignment.substr(equals + 1));

  const toml::value<std::string> word(text);
  toml::table document;
  const toml::node* node = &word;
  try {
    document = toml::parse("value = " + text);
    // More than one key: the text had line breaks, and is not one value.
    if (document.size() == 1) node = document.get("value");
  } catch (const toml::parse_error&) {
    // Not a TOML value: a word.
  }
  const Option* const option = find(key);
  const bool is_text = option && (option->kind == Kind::string || option->kind == Kind::path ||
                                  option->kind == Kind::choice);
  if (is_text && !node->is_string()) node = &word;  // name=2024 is a name
  Reader{*this, from_overrides_}.assign(key, *node, where);
}

void Schema::set(const std::string& key, const Value& value, const std::string& source_name) {
  const toml::table document = toml::parse("value = " + toml_text(value));
  Reader{*this, from_files_}.assign(key, *document.get("value"), source_name + ": ");
}

std::optional<Value> Schema::read_so_far(std::string_view key) const {
  const Option* option = find(key);
  for (const auto* read : {&from_overrides_, &from_files_})
    for (auto each = read->rbegin(); each != read->rend(); ++each)
      if (each->option == option) return each->value;
  return std::nullopt;
}

void Schema::changeable(const std::function<void()>& declare) {
  const size_t before = options_.size();
  declare();
  for (size_t k = before; k < options_.size(); ++k) options_[k]->may_change = [] { return true; };
}

void Schema::only_for(std::string user, std::function<bool()> used,
                      const std::function<void()>& declare) {
  const size_t before = options_.size();
  declare();
  for (size_t k = before; k < options_.size(); ++k) {
    options_[k]->used = used;
    options_[k]->user = user;
  }
}

bool Schema::may_change(std::string_view key) const {
  const Option* const option = find(key);
  return option != nullptr && option->may_change && option->may_change();
}

std::map<std::string, Value> Schema::values() const {
  std::map<std::string, Value> result;
  for (const auto& option : options_) result.emplace(option->key, option->get());
  return result;
}

std::vector<std::string> Schema::misfits() const {
  if (!misplaced_.empty()) return misplaced_;
  std::vector<std::string> found;
  for (const Need& need : needs_) {
    const Option& option = *need.wanted.option;
    const Value value = read_so_far(option.key).value_or(option.get());
    if (value != need.wanted.value)
      found.push_back(fmt::format("'{0}' does not fit: it is for {1} = {2}, and here {1} is {3}",
                                  need.file, option.key, toml_text(need.wanted.value),
                                  toml_text(value)));
  }
  return found;
}

void Schema::finish() {
  // Misfits come first: if a file does not fit, its keys are unknown.
  const std::vector<std::string> misfits = this->misfits();
  for (const std::vector<std::string>* problems : {&misfits, &std::as_const(problems_)})
    if (!problems->empty()) throw UsageError(fmt::format("{}", fmt::join(*problems, "\n")));
  std::vector<Assignment> former;
  for (const auto* assignments : {&from_files_, &from_overrides_})
    for (const Assignment& each : *assignments) {
      former.push_back({each.option, each.option->get()});
      each.option->set(each.value);
    }
  for (const auto& [option, value] : from_overrides_)
    if (option->used && !option->used())
      problems_.push_back(
          fmt::format("'{}' changes nothing here: it is for {}", option->key, option->user));
  if (problems_.empty()) return;
  for (auto each = former.rbegin(); each != former.rend(); ++each) each->option->set(each->value);
  throw UsageError(fmt::format("{}", fmt::join(problems_, "\n")));
}

std::string Schema::dump() const {
  std::vector<std::pair<std::string_view, std::string>> tables = {{"", ""}};
  for (const auto& option : options_) {
    const auto [table, name] = split_key(option->key);
    auto place = std::find_if(tables.begin(), tables.end(),
                              [&t = table](const auto& each) { return each.first == t; });
    if (place == tables.end()) place = tables.insert(tables.end(), {table, ""});
    place->second += comment(fmt::format("{} ({})", option->help, type_text(*option)));
    place->second += fmt::format("{} = {}\n", name, toml_text(option->get()));
  }
  std::string text;
  for (const auto& [table, lines] : tables) {
    if (lines.empty()) continue;
    if (!text.empty()) text += '\n';
    if (!table.empty()) text += fmt::format("[{}]\n", table);
    text += lines;
  }
  return text;
}

std::string Schema::markdown() const {
  std::string text = "| key | type | default | meaning |\n| --- | --- | --- | --- |\n";
  for (const auto& option : options_)
    text += fmt::format("| `{}` | {} | `{}` | {} |\n", option->key, table_cell(type_text(*option)),
                        table_cell(toml_text(option->initial)), table_cell(option->help));
  return text;
}

}  // namespace tessera::config
