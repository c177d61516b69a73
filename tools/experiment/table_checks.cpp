#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>
#include <string_view>

#include "base/nearest_name.h"
#include "experiment/columns.h"
#include "experiment/table.h"

namespace tessera::experiment {
namespace {

using Names = std::vector<std::string_view>;

template <class Entry>
Names names_of(const std::vector<Entry>& entries) {
  Names names;
  for (const Entry& entry : entries) names.push_back(entry.name);
  return names;
}

Names corpora_of(const Table& table) {
  Names names = names_of(table.data);
  for (const std::string_view name : names_of(table.distilled)) names.push_back(name);
  return names;
}

class Checker {
 public:
  explicit Checker(const Table& table) : table_(table) {}

  std::vector<std::string> problems() {
    check_models();
    check_distilled();
    check_cells();
    check_base();
    check_front();
    if (problems_.empty()) check_cycles();
    return problems_;
  }

 private:
  void complain(const std::string& where, const std::string& what) {
    problems_.push_back(where + ": " + what);
  }

  void check_name(const std::string& where, std::string_view kind, const std::string& name,
                  const Names& known) {
    if (std::find(known.begin(), known.end(), name) == known.end())
      complain(where, fmt::format("there is no {} '{}'{}", kind, name, did_you_mean(name, known)));
  }

  void check_models() {
    for (const Model& model : table_.models) {
      if (model.recipes.empty())
        complain(model.where, fmt::format("the model '{}' needs a recipe", model.name));
      for (const std::filesystem::path& recipe : model.recipes)
        if (std::error_code ignored; !std::filesystem::is_regular_file(recipe, ignored))
          complain(model.where, fmt::format("there is no recipe '{}'", recipe.string()));
      if (!model.data.empty()) check_name(model.where, "corpus", model.data, corpora_of(table_));
      const std::set<uint64_t> different(model.seeds.begin(), model.seeds.end());
      if (model.seeds.empty() || different.size() != model.seeds.size())
        complain(model.where,
                 fmt::format("the model '{}' needs seeds, each of them once", model.name));
    }
  }

  void check_distilled() {
    for (const Distilled& corpus : table_.distilled) {
      check_name(corpus.where, "model", corpus.teacher, names_of(table_.models));
      check_name(corpus.where, "corpus", corpus.of, corpora_of(table_));
      if (table_.find_data(corpus.name))
        complain(corpus.where, fmt::format("'{}' is a corpus of [data] already", corpus.name));
    }
  }

  void check_cells() {
    if (table_.cells.empty()) complain(table_.file.string(), "a table needs at least one [[cell]]");
    std::set<std::pair<std::string, std::string>> places;
    for (const Cell& cell : table_.cells) {
      check_name(cell.where, "model", cell.model, names_of(table_.models));
      for (const std::string& option : cell.evaluate)
        if (const std::string named = named_model(option); !named.empty())
          check_name(cell.where, "model", named, names_of(table_.models));
      for (const std::string& option : cell.evaluate) check_option(cell, option);
      if (!places.insert({cell.row, cell.column}).second)
        complain(cell.where, cell.column.empty()
                                 ? fmt::format("there is a cell '{}' already", cell.row)
                                 : fmt::format("there is a cell '{}' in column '{}' already",
                                               cell.row, cell.column));
    }
  }

  void check_option(const Cell& cell, const std::string& option) {
    const std::string name = option.substr(0, option.find('='));
    for (const char* ours : {"--out", "--json", "--data", "--compare", "--profile", "--seed"})
      if (name == ours)
        complain(cell.where, fmt::format("{} is set by the experiment, not by a cell", ours));
  }

  void check_base() {
    if (table_.base.empty()) return;
    const std::vector<std::string> rows = table_.rows();
    check_name(table_.file.string(), "row", table_.base, Names(rows.begin(), rows.end()));
  }

  void check_front() {
    if (!table_.front) return;
    Names keys;
    for (const Column& column : table_.columns) keys.push_back(column.key);
    check_name(table_.front->where, "column", table_.front->score, keys);
  }

  // A corpus needs its teacher, a model its corpus.
  void check_cycles() {
    std::set<std::string> done, open;
    const std::function<void(const std::string&)> visit = [&](const std::string& name) {
      const Distilled* corpus = table_.find_distilled(name);
      if (!corpus || done.contains(name)) return;
      if (!open.insert(name).second) {
        complain(corpus->where,
                 fmt::format("the corpus '{}' is needed to make itself: its teacher '{}' is "
                             "trained on it",
                             name, corpus->teacher));
        return;
      }
      visit(corpus->of);
      visit(table_.find_model(corpus->teacher)->data);
      open.erase(name);
      done.insert(name);
    };
    for (const Distilled& corpus : table_.distilled) visit(corpus.name);
  }

  const Table& table_;
  std::vector<std::string> problems_;
};

template <class Entry>
const Entry* find(const std::vector<Entry>& entries, const std::string& name) {
  const auto found = std::find_if(entries.begin(), entries.end(),
                                  [&](const Entry& entry) { return entry.name == name; });
  return found == entries.end() ? nullptr : &*found;
}

std::vector<std::string> different(const std::vector<Cell>& cells, std::string Cell::*part) {
  std::vector<std::string> names;
  for (const Cell& cell : cells)
    if (std::find(names.begin(), names.end(), cell.*part) == names.end())
      names.push_back(cell.*part);
  return names;
}

}  // namespace

const Model* Table::find_model(const std::string& name) const {
  return find(models, name);
}

const Data* Table::find_data(const std::string& name) const {
  return find(data, name);
}

const Distilled* Table::find_distilled(const std::string& name) const {
  return find(distilled, name);
}

std::vector<std::string> Table::rows() const {
  return different(cells, &Cell::row);
}

std::vector<std::string> Table::column_groups() const {
  return different(cells, &Cell::column);
}

std::string named_model(const std::string& option) {
  const size_t at = option.starts_with('@') ? 0 : option.find("=@");
  if (at == std::string::npos) return "";
  return option.substr(option.find('@', at) + 1);
}

std::vector<std::string> problems_of(const Table& table) {
  return Checker(table).problems();
}

}  // namespace tessera::experiment
