#include "experiment/table.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <sstream>

#include "base/nearest_name.h"
#include "base/regular_file.h"
#include "base/require.h"
#include "config/toml.h"
#include "experiment/columns.h"
#include "experiment/sweep.h"
#include "tessera/base/error.h"

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostSeeds = 1000;

// Files as they are read, each laid over the one before; names in braces are not replaced yet.
struct Draft {
  Table table;
  std::vector<uint64_t> seeds{1};  // of models that name none
  std::map<std::string, std::string> set;
  std::vector<SweptCell> cells;
};

struct Entry {
  std::string key;
  const toml::node* node;
  toml::source_position position;
};

// The keys of a table in the order of the file; toml++ has them sorted by name.
std::vector<Entry> entries_of(const toml::table& table) {
  std::vector<Entry> entries;
  for (const auto& [key, node] : table)
    entries.push_back({std::string(key.str()), &node, key.source().begin});
  std::sort(entries.begin(), entries.end(),
            [](const Entry& a, const Entry& b) { return a.position < b.position; });
  return entries;
}

// As it would stand on a command line.
std::optional<std::string> plain_text(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return fmt::format("{}", whole->get());
  if (const auto* number = node.as_floating_point()) return fmt::format("{}", number->get());
  if (const auto* truth = node.as_boolean()) return truth->get() ? "true" : "false";
  return std::nullopt;
}

template <class T>
T& entry_named(std::vector<T>& entries, const std::string& name) {
  for (T& entry : entries)
    if (entry.name == name) return entry;
  entries.push_back({});
  entries.back().name = name;
  return entries.back();
}

class FileReader {
 public:
  FileReader(Draft& draft, std::vector<std::string>& problems, fs::path file, int depth = 0)
      : draft_(draft), problems_(problems), file_(std::move(file)), depth_(depth) {}

  void read() {
    toml::table document;
    try {
      document = parse_toml(read_file(file_, kMostSettingsBytes), file_.string());
    } catch (const toml::parse_error& error) {
      return complain(error.source().begin.line, std::string(error.description()));
    } catch (const Error& error) {
      problems_.emplace_back(error.what());
      return;
    }
    include(document);
    static const std::vector<std::string_view> known{"include",   "title", "note", "base",
                                                     "columns",   "seeds", "set",  "data",
                                                     "distilled", "model", "cell", "front"};
    for (const Entry& entry : entries_of(document)) {
      Table& table = draft_.table;
      if (entry.key == "include") continue;
      if (entry.key == "title")
        read_text(entry, table.title);
      else if (entry.key == "note")
        read_text(entry, table.note);
      else if (entry.key == "base")
        read_text(entry, table.base);
      else if (entry.key == "columns")
        read_columns(entry);
      else if (entry.key == "seeds")
        read_seeds(entry, draft_.seeds);
      else if (entry.key == "set")
        each_of(entry, [&](const Entry& e) { read_text(e, draft_.set[e.key]); });
      else if (entry.key == "data")
        each_of(entry, [&](const Entry& e) { read_data(e); });
      else if (entry.key == "distilled")
        each_of(entry, [&](const Entry& e) { read_distilled(e); });
      else if (entry.key == "model")
        each_of(entry, [&](const Entry& e) { read_model(e); });
      else if (entry.key == "cell")
        read_cells(entry);
      else if (entry.key == "front")
        read_front(entry);
      else
        unknown(entry, known);
    }
  }

 private:
  std::string where(uint32_t line) const { return fmt::format("{}:{}", file_.string(), line); }
  std::string where(const Entry& entry) const { return where(entry.position.line); }

  void complain(uint32_t line, const std::string& what) {
    problems_.push_back(where(line) + ": " + what);
  }
  void complain(const Entry& entry, const std::string& what) {
    complain(entry.position.line, what);
  }
  void unknown(const Entry& entry, const std::vector<std::string_view>& known) {
    complain(entry, fmt::format("unknown key '{}'{}", entry.key, did_you_mean(entry.key, known)));
  }

  // The included file is read first, so that this one can change it.
  void include(const toml::table& document) {
    constexpr int kDeepest = 8;
    const toml::node* named = document.get("include");
    if (!named) return;
    const uint32_t line = named->source().begin.line;
    if (!named->is_string()) return complain(line, "'include' must be the name of a file");
    if (depth_ == kDeepest) return complain(line, "files include each other too deeply");
    const fs::path other = file_.parent_path() / named->as_string()->get();
    if (std::error_code ignored; !fs::is_regular_file(other, ignored))
      return complain(line, fmt::format("there is no file '{}'", other.string()));
    FileReader(draft_, problems_, other, depth_ + 1).read();
  }

  template <class Action>
  void each_of(const Entry& entry, Action act) {
    if (const toml::table* table = entry.node->as_table())
      for (const Entry& each : entries_of(*table)) act(each);
    else
      complain(entry, fmt::format("'{}' must be a table", entry.key));
  }

  void read_text(const Entry& entry, std::string& field) {
    if (const auto* text = entry.node->as_string())
      field = text->get();
    else
      complain(entry, fmt::format("'{}' must be a string", entry.key));
  }

  void read_whole(const Entry& entry, int64_t lowest, int64_t highest, int64_t& field) {
    const auto* whole = entry.node->as_integer();
    if (whole && whole->get() >= lowest && whole->get() <= highest)
      field = whole->get();
    else
      complain(entry,
               fmt::format("'{}' must be an integer from {} to {}", entry.key, lowest, highest));
  }

  void read_texts(const Entry& entry, std::vector<std::string>& field) {
    std::vector<std::string> texts;
    const toml::array* array = entry.node->as_array();
    for (size_t k = 0; array && k < array->size(); ++k)
      if (const auto text = plain_text((*array)[k])) texts.push_back(*text);
    if (array && texts.size() == array->size())
      field = std::move(texts);
    else
      complain(entry, fmt::format("'{}' must be a list of strings", entry.key));
  }

  void read_seeds(const Entry& entry, std::vector<uint64_t>& field) {
    std::vector<uint64_t> seeds;
    const toml::array* array = entry.node->as_array();
    for (size_t k = 0; array && k < array->size(); ++k)
      if (const auto* whole = (*array)[k].as_integer(); whole && whole->get() >= 0)
        seeds.push_back(static_cast<uint64_t>(whole->get()));
    if (array && !seeds.empty() && seeds.size() == array->size() && seeds.size() <= kMostSeeds)
      field = std::move(seeds);
    else
      complain(entry, fmt::format("'seeds' must be a list of integers, none of them negative, and "
                                  "at most {}",
                                  kMostSeeds));
  }

  void read_columns(const Entry& entry) {
    const toml::array* array = entry.node->as_array();
    if (!array || array->empty())
      return complain(entry, "'columns' must be a list of what to show: bleu, ...");
    draft_.table.columns.clear();
    for (const toml::node& node : *array) add_column(node, draft_.table.columns);
  }

  // A column is a string, or a table with a key.
  void add_column(const toml::node& node, std::vector<Column>& columns) {
    Column column;
    const uint32_t line = node.source().begin.line;
    if (const auto* key = node.as_string()) {
      column.key = key->get();
    } else if (const toml::table* table = node.as_table()) {
      for (const Entry& each : entries_of(*table)) {
        if (each.key == "key")
          read_text(each, column.key);
        else if (each.key == "title")
          read_text(each, column.title);
        else if (each.key == "decimals")
          read_whole(each, 0, 15, column.decimals);
        else
          unknown(each, {"key", "title", "decimals"});
      }
    }
    if (column.key.empty()) return complain(line, "a column is a string, or a table with a key");
    const KnownColumn* known = known_column(column.key);
    if (!known) {
      const std::string near = did_you_mean(column.key, known_column_keys());
      if (!near.empty()) complain(line, fmt::format("unknown column '{}'{}", column.key, near));
    }
    if (column.title.empty()) column.title = known ? std::string(known->title) : column.key;
    columns.push_back(std::move(column));
  }

  void read_front(const Entry& entry) {
    Front front;
    front.where = where(entry);
    each_of(entry, [&](const Entry& each) {
      if (each.key == "cost") {
        std::vector<Column> columns;
        add_column(*each.node, columns);
        if (!columns.empty()) front.cost = columns.front();
      } else if (each.key == "score") {
        read_text(each, front.score);
      } else if (each.key == "best") {
        std::string best;
        read_text(each, best);
        front.lowest_is_best = best == "lowest";
        if (best != "lowest" && best != "highest")
          complain(each, "'best' must be \"highest\" or \"lowest\"");
      } else if (each.key == "budgets") {
        read_budgets(each, front.budgets);
      } else {
        unknown(each, {"cost", "score", "best", "budgets"});
      }
    });
    if (front.cost.key.empty() || front.score.empty())
      complain(entry, "[front] needs a cost and a score: cost = \"passes\", score = \"bleu\"");
    draft_.table.front = std::move(front);
  }

  void read_budgets(const Entry& entry, std::vector<double>& field) {
    const toml::array* array = entry.node->as_array();
    for (size_t k = 0; array && k < array->size(); ++k)
      if (const auto budget = (*array)[k].value<double>(); budget && *budget > 0)
        field.push_back(*budget);
    if (!array || field.size() != array->size())
      complain(entry, "'budgets' must be a list of numbers above 0");
  }

  void read_data(const Entry& entry) {
    std::string folder;
    read_text(entry, folder);
    Data& data = entry_named(draft_.table.data, entry.key);
    data.folder = folder.empty() ? fs::path() : file_.parent_path() / folder;
    data.where = where(entry);
  }

  void read_distilled(const Entry& entry) {
    Distilled& corpus = entry_named(draft_.table.distilled, entry.key);
    corpus.where = where(entry);
    each_of(entry, [&](const Entry& each) {
      if (each.key == "teacher")
        read_text(each, corpus.teacher);
      else if (each.key == "of")
        read_text(each, corpus.of);
      else if (each.key == "beam")
        read_whole(each, 1, 4096, corpus.beam);
      else
        unknown(each, {"teacher", "of", "beam"});
    });
  }

  // A file, or a list of files.
  void read_recipes(const Entry& entry, std::vector<fs::path>& field) {
    std::vector<std::string> names;
    if (const auto* name = entry.node->as_string())
      names.push_back(name->get());
    else
      read_texts(entry, names);
    field.clear();
    for (const std::string& name : names)
      field.push_back((file_.parent_path() / name).lexically_normal());
  }

  void read_model(const Entry& entry) {
    Model& model = entry_named(draft_.table.models, entry.key);
    model.where = where(entry);
    each_of(entry, [&](const Entry& each) {
      if (each.key == "recipe") {
        read_recipes(each, model.recipes);
      } else if (each.key == "data") {
        read_text(each, model.data);
      } else if (each.key == "seeds") {
        read_seeds(each, model.seeds);
      } else if (each.key == "overrides") {
        read_texts(each, model.overrides);
      } else {
        unknown(each, {"recipe", "data", "seeds", "overrides"});
      }
    });
  }

  void read_at_most(const Entry& entry, std::optional<double>& field) {
    field = entry.node->value<double>();
    if (!field || *field < 1) complain(entry, "'at_most' must be a number of at least 1");
  }

  void read_cells(const Entry& entry) {
    const toml::array* array = entry.node->as_array();
    if (!array) return complain(entry, "cells are written as [[cell]]");
    draft_.cells.clear();
    for (const toml::node& node : *array) {
      SweptCell swept;
      swept.cell.where = where(node.source().begin.line);
      const toml::table* table = node.as_table();
      if (!table) return complain(entry, "cells are written as [[cell]]");
      for (const Entry& each : entries_of(*table)) {
        if (each.key == "row")
          read_text(each, swept.cell.row);
        else if (each.key == "column")
          read_text(each, swept.cell.column);
        else if (each.key == "model")
          read_text(each, swept.cell.model);
        else if (each.key == "evaluate")
          read_texts(each, swept.cell.evaluate);
        else if (each.key == "sweep")
          each_of(each, [&](const Entry& e) {
            if (e.key.find_first_not_of('-') == std::string::npos)
              return complain(e, fmt::format("'{}' is not the name of an option", e.key));
            swept.sweeps.push_back({e.key, {}});
            read_texts(e, swept.sweeps.back().values);
          });
        else if (each.key == "at_most")
          read_at_most(each, swept.at_most);
        else
          unknown(each, {"row", "column", "model", "evaluate", "sweep", "at_most"});
      }
      const uint32_t line = node.source().begin.line;
      if (swept.cell.row.empty()) complain(line, "a cell needs a row");
      if (swept.cell.model.empty()) complain(line, "a cell needs a model");
      if (swept.sweeps.size() > 2)
        complain(line, "a sweep has one option or two: rows and columns");
      if (swept.at_most && swept.sweeps.empty())
        complain(line, "'at_most' needs a sweep, and the cell has none");
      draft_.cells.push_back(std::move(swept));
    }
  }

  Draft& draft_;
  std::vector<std::string>& problems_;
  fs::path file_;
  int depth_;
};

constexpr int64_t kMostCells = 10000;  // of a table that anyone would read

// How many cells a swept one becomes, or a number above all limits.
int64_t cells_of(const SweptCell& swept) {
  int64_t count = 1;
  for (const Sweep& sweep : swept.sweeps)
    count = std::min(kMostCells + 1, count * static_cast<int64_t>(sweep.values.size()));
  return count;
}

// Replaces {name} by what [set] says.
class Replacer {
 public:
  Replacer(const std::map<std::string, std::string>& set, std::vector<std::string>& problems)
      : set_(set), problems_(problems) {}

  void replace(std::string& text, const std::string& where) {
    std::string result;
    for (size_t at = 0; at < text.size();) {
      const size_t open = std::min(text.find('{', at), text.size());
      result += text.substr(at, open - at);
      const size_t close = text.find('}', open);
      if (open == text.size() || close == std::string::npos) {
        result += text.substr(open);
        break;
      }
      const std::string name = text.substr(open + 1, close - open - 1);
      const auto value = set_.find(name);
      if (value == set_.end()) {
        std::vector<std::string_view> known;
        for (const auto& [key, ignored] : set_) known.push_back(key);
        problems_.push_back(fmt::format("{}: [set] has no '{}', which '{}' asks for{}", where, name,
                                        text, did_you_mean(name, known)));
        return;
      }
      result += value->second;
      at = close + 1;
    }
    text = result;
  }

  void replace(fs::path& path, const std::string& where) {
    std::string text = path.string();
    replace(text, where);
    path = text;
  }

  void replace(std::vector<std::string>& texts, const std::string& where) {
    for (std::string& text : texts) replace(text, where);
  }

 private:
  const std::map<std::string, std::string>& set_;
  std::vector<std::string>& problems_;
};

Table finished(Draft draft, std::vector<std::string>& problems) {
  Table& table = draft.table;
  Replacer replacer(draft.set, problems);
  const std::string whole = table.file.string();
  for (std::string* text : {&table.title, &table.note, &table.base}) replacer.replace(*text, whole);
  for (Data& data : table.data) replacer.replace(data.folder, data.where);
  for (Distilled& corpus : table.distilled)
    for (std::string* text : {&corpus.teacher, &corpus.of}) replacer.replace(*text, corpus.where);
  for (Model& model : table.models) {
    if (model.seeds.empty()) model.seeds = draft.seeds;
    for (fs::path& recipe : model.recipes) replacer.replace(recipe, model.where);
    replacer.replace(model.data, model.where);
    replacer.replace(model.overrides, model.where);
  }
  for (SweptCell& swept : draft.cells) {
    Cell& cell = swept.cell;
    for (std::string* text : {&cell.row, &cell.column, &cell.model})
      replacer.replace(*text, cell.where);
    replacer.replace(cell.evaluate, cell.where);
    for (Sweep& sweep : swept.sweeps) replacer.replace(sweep.values, cell.where);
    if (static_cast<int64_t>(table.cells.size()) + cells_of(swept) > kMostCells) {
      problems.push_back(
          fmt::format("{}: the table would have more than {} cells: sweep fewer "
                      "values",
                      cell.where, kMostCells));
      break;
    }
    std::vector<Cell> cells = spread_out(swept, table.models);
    if (cells.empty()) problems.push_back(cell.where + ": 'at_most' leaves nothing of the sweep");
    std::ranges::move(cells, std::back_inserter(table.cells));
  }
  if (table.title.empty()) table.title = table.name();
  if (table.columns.empty()) table.columns = {{"bleu", "BLEU"}};
  return std::move(table);
}

}  // namespace

Table read_table(const fs::path& file, const std::map<std::string, std::string>& set) {
  Draft draft;
  draft.table.file = file;
  std::vector<std::string> problems;
  FileReader(draft, problems, file).read();
  std::vector<std::string_view> known;
  for (const auto& [name, ignored] : draft.set) known.push_back(name);
  for (const auto& [name, value] : set) {
    require_option(draft.set.contains(name), "--set: [set] of '{}' has no '{}'{}", file.string(),
                   name, did_you_mean(name, known));
    draft.set[name] = value;
  }
  Table table = finished(std::move(draft), problems);
  if (problems.empty()) problems = problems_of(table);
  if (!problems.empty()) throw UsageError(fmt::format("{}", fmt::join(problems, "\n")));
  return table;
}

}  // namespace tessera::experiment
