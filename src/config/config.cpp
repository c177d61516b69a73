#include "config/config.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <sstream>

#include "config/option_text.h"
#include "config/toml_value.h"
#include "tessera/base/error.h"

namespace tessera::config {
namespace {

// Words of `text` in lines of comment.
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

Option& Schema::add(const std::string& key, std::string help, Kind kind,
                    std::vector<std::string_view> names, std::function<Value()> get,
                    std::function<void(const Value&)> set) {
  Option& option = options_.add(key);
  option.help = std::move(help);
  option.kind = kind;
  option.names = std::move(names);
  option.get = std::move(get);
  option.set = std::move(set);
  option.initial = option.get();
  return option;
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
    document = parse_toml("value = " + text);
    // More than one key: the text had line breaks, and is not one value.
    if (document.size() == 1) node = document.get("value");
  } catch (const toml::parse_error&) {
    // Not a TOML value: a word.
  }
  const Option* const option = find(key);
  const bool is_text = option && (option->kind == Kind::string || option->kind == Kind::path ||
                                  option->kind == Kind::choice);
  if (is_text && !node->is_string()) node = &word;  // name=2024 is a name
  if (auto value = read_value(options_, key, *node, where, problems_))
    from_overrides_.push_back(std::move(*value));
}

void Schema::set(const std::string& key, const Value& value, const std::string& source_name) {
  const toml::table document = parse_toml("value = " + toml_text(value));
  if (auto read = read_value(options_, key, *document.get("value"), source_name + ": ", problems_))
    from_files_.push_back(std::move(*read));
}

std::optional<Value> Schema::read_so_far(std::string_view key) const {
  const Option* option = find(key);
  for (const auto* read : {&from_overrides_, &from_files_})
    for (auto each = read->rbegin(); each != read->rend(); ++each)
      if (each->option == option) return each->value;
  return std::nullopt;
}

std::vector<Option*> Schema::added_by(const std::function<void()>& declare) {
  const size_t before = options_.all().size();
  declare();
  std::vector<Option*> added;
  for (size_t k = before; k < options_.all().size(); ++k) added.push_back(&options_.all()[k]);
  return added;
}

void Schema::changeable(const std::function<void()>& declare) {
  for (Option* option : added_by(declare)) option->may_change = [] { return true; };
}

void Schema::only_for(std::string user, std::function<bool()> used,
                      const std::function<void()>& declare) {
  for (Option* option : added_by(declare)) {
    option->used = used;
    option->user = user;
  }
}

bool Schema::may_change(std::string_view key) const {
  const Option* const option = find(key);
  return option != nullptr && option->may_change && option->may_change();
}

std::map<std::string, Value> Schema::values() const {
  std::map<std::string, Value> result;
  for (const Option& option : options_.all()) result.emplace(option.key, option.get());
  return result;
}

std::vector<std::string> Schema::misfits() const {
  if (!files_.misplaced().empty()) return files_.misplaced();
  std::vector<std::string> found;
  for (const RecipeReader::Need& need : files_.needs()) {
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
  for (const Option& option : options_.all()) {
    const auto [table, name] = split_key(option.key);
    auto place = std::find_if(tables.begin(), tables.end(),
                              [&t = table](const auto& each) { return each.first == t; });
    if (place == tables.end()) place = tables.insert(tables.end(), {table, ""});
    place->second += comment(fmt::format("{} ({})", option.help, type_text(option)));
    place->second += fmt::format("{} = {}\n", name, toml_text(option.get()));
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
  for (const Option& option : options_.all())
    text += fmt::format("| `{}` | {} | `{}` | {} |\n", option.key, table_cell(type_text(option)),
                        table_cell(toml_text(option.initial)), table_cell(option.help));
  return text;
}

}  // namespace tessera::config
