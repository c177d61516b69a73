#include "config/recipe_reader.h"

#include "base/regular_file.h"
#include "config/option_text.h"
#include "config/toml_value.h"

#include <tessera/base/error.h>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace tessera::config {
namespace {

bool is_plain_key(std::string_view key) {
  const auto plain = [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
           c == '-';
  };
  return !key.empty() && std::all_of(key.begin(), key.end(), plain);
}

std::string written(std::string_view key) {
  return is_plain_key(key) ? std::string(key) : toml_text(std::string(key));
}

// Keys that are not options but concern the files themselves.
bool is_about_files(std::string_view key) {
  return key == "include" || key == "old_name" || key == "needs" || key == "method";
}

}  // namespace

// A file or a text.
struct RecipeReader::Document {
  RecipeReader& reader;
  const toml::table& table;
  const std::string& source;

  struct Found {
    toml::source_position position;  // of the key
    std::string key;
    const toml::node* node;
  };

  void read() {
    if (is_table_of_results()) {
      reader.misplaced_.push_back(
          fmt::format("'{0}' is a table of results: `tessera experiment {0}` makes it", source));
      return;
    }
    const std::vector<std::string> included = include();
    old_name(included);
    needs();
    for (const Found& each : in_order(table))
      if (!is_about_files(each.key)) read_value(each, reader.values_);
    of_methods();
    reader.anything_read_ = true;
  }

  // A file of recipes/tables.
  bool is_table_of_results() const {
    for (const char* key : {"cell", "columns", "distilled", "front", "title"})
      if (table.contains(key) && reader.options_.find(key) == nullptr &&
          !reader.options_.is_table(key))
        return true;
    return false;
  }

  // "x.toml:12: "
  std::string where(const toml::source_position& position) const {
    return fmt::format("{}:{}: ", source, position.line);
  }
  void complain(const toml::node& node, const std::string& what) {
    reader.problems_.push_back(where(node.source().begin) + what);
  }

  // Reads the files that `include` names first. Returns them.
  std::vector<std::string> include() {
    std::vector<std::string> files;
    const toml::node* named = table.get("include");
    if (named == nullptr) return files;
    const auto add = [&](const toml::node& node) {
      const auto* name = node.as_string();
      if (name == nullptr)
        return complain(node, "'include' must be the name of a file, or a list of names");
      constexpr size_t kDeepest = 8;
      const auto open = std::count_if(reader.files_.begin(), reader.files_.end(),
                                      [](const File& file) { return !file.to_its_end; });
      if (static_cast<size_t>(open) > kDeepest)
        return complain(node, "files include each other too deeply");
      const auto path = std::filesystem::path(source).parent_path() / name->get();
      files.push_back(path.lexically_normal().string());
      reader.read_file(path, where(node.source().begin));
    };
    if (const toml::array* list = named->as_array())
      for (const toml::node& node : *list) add(node);
    else
      add(*named);
    return files;
  }

  void old_name(const std::vector<std::string>& included) {
    const toml::node* node = table.get("old_name");
    if (node == nullptr) return;
    if (!node->is_boolean())
      complain(*node, "'old_name' must be true or false");
    else if (node->as_boolean()->get())
      reader.warnings_.push_back(fmt::format("'{}' is an old name that will be removed: use {}",
                                             source, fmt::join(included, " ")));
  }

  void needs() {
    const toml::node* node = table.get("needs");
    if (node == nullptr) return;
    if (!reader.anything_read_)
      reader.misplaced_.push_back(fmt::format(
          "'{}' is a method: name a recipe of data before it (recipes/multi30k.toml {})", source,
          source));
    std::vector<Assignment> wanted;
    for (const Found& each : keys_of(*node, "needs")) read_value(each, wanted);
    for (Assignment& each : wanted) reader.needs_.push_back({std::move(each), source});
  }

  void of_methods() {
    const toml::node* node = table.get("method");
    if (node == nullptr) return;
    const toml::table* methods = node->as_table();
    if (methods == nullptr) return complain(*node, "'method' must be a table of methods");
    for (const auto& [key, section] : *methods) {
      const std::string name(key.str());
      for (const Found& each : keys_of(section, "method." + written(name)))
        read_value(each, reader.of_methods_[name]);
    }
  }

  void read_value(const Found& found, std::vector<Assignment>& values) {
    auto value = config::read_value(reader.options_, found.key, *found.node, where(found.position),
                                    reader.problems_);
    if (value) values.push_back(std::move(*value));
  }

  // The keys of [needs] or [method.NAME].
  std::vector<Found> keys_of(const toml::node& node, const std::string& name) {
    if (const toml::table* keys = node.as_table()) return in_order(*keys);
    complain(node, fmt::format("'{}' must be a table of keys", name));
    return {};
  }

  // toml++ sorts keys by name. Problems are listed in the order of the file.
  std::vector<Found> in_order(const toml::table& keys) const {
    std::vector<Found> found;
    collect(keys, "", found);
    std::sort(found.begin(), found.end(),
              [](const Found& a, const Found& b) { return a.position < b.position; });
    return found;
  }
  void collect(const toml::table& keys, const std::string& prefix,
               std::vector<Found>& found) const {
    for (const auto& [key, node] : keys) {
      const std::string full = prefix + written(key.str());
      if (node.is_table() && reader.options_.is_table(full))
        collect(*node.as_table(), full + ".", found);
      else
        found.push_back({key.source().begin, full, &node});
    }
  }
};

//   where  "FILE:LINE: " of the include that names it
void RecipeReader::read_file(const std::filesystem::path& path, const std::string& where) {
  std::error_code ignored;
  const std::filesystem::path full = std::filesystem::weakly_canonical(path, ignored);
  for (const File& other : files_) {
    if (other.path != full) continue;
    problems_.push_back(
        fmt::format("{}'{}' {}", where, path.string(),
                    other.to_its_end ? "was read before: name it once" : "includes itself"));
    return;
  }
  std::string text;
  try {
    text = tessera::read_file(path, kMostSettingsBytes);
  } catch (const Error& error) {
    problems_.push_back(where + error.what());
    return;
  }
  const size_t place = files_.size();
  files_.push_back({full, false});
  read_text(text, path.string());
  files_[place].to_its_end = true;
  // What earlier files say about this method.
  const auto more = of_methods_.find(path.stem().string());
  if (more != of_methods_.end())
    values_.insert(values_.end(), more->second.begin(), more->second.end());
}

void RecipeReader::read_text(std::string_view text, const std::string& source_name) {
  try {
    const toml::table table = parse_toml(text);
    Document{*this, table, source_name}.read();
  } catch (const toml::parse_error& error) {
    problems_.push_back(
        fmt::format("{}:{}: {}", source_name, error.source().begin.line, error.description()));
  }
}

}  // namespace tessera::config
