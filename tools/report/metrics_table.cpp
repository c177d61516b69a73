#include <tessera/report/metrics_table.h>

#include "base/require.h"
#include "base/visible_text.h"
#include "report/run_name.h"
#include "train/metrics_log.h"
#include "train/run_folder.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

// More are no metrics of a training.
constexpr size_t kMostColumns = 1000, kMostCells = 100'000'000;

// As RFC 4180 has it.
std::string csv_text(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string result = "\"";
  for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
  return result + '"';
}

// Nothing for what no cell can hold.
std::optional<std::string> csv_cell(const Json& value) {
  if (value.is_null()) return std::string();
  if (value.is_number() || value.is_boolean()) return value.dump();
  if (!value.is_string()) return std::nullopt;
  const auto& text = value.get_ref<const std::string&>();
  if (text.starts_with("data:")) return std::nullopt;  // a picture
  return csv_text(visible(text));
}

class MetricsTable {
 public:
  // Adds the records of a run.
  //   label  what its lines begin with; empty: nothing
  void add(const fs::path& folder, const std::string& label) {
    const fs::path file = train::RunFolder::open(folder).metrics();
    const size_t before = rows_.size();
    for (const Json& record : train::MetricsLog::read(file)) {
      Row row{label, {}};
      for (const auto& [name, value] : record.items())
        if (auto cell = csv_cell(value))
          row.cells.emplace_back(column(name, file), std::move(*cell));
      rows_.push_back(std::move(row));
    }
    require(rows_.size() > before,
            "'{}' holds no measurements: the run has not logged anything yet", file.string());
  }

  std::string csv(bool with_labels) const {
    require(rows_.size() <= kMostCells / std::max<size_t>(1, names_.size()),
            "a table of {} records with {} values each would be too large: name fewer runs",
            rows_.size(), names_.size());
    std::string text = with_labels ? "run" : "";
    for (size_t k = 0; k < names_.size(); ++k)
      text += (k > 0 || with_labels ? "," : "") + csv_text(visible(names_[k]));
    text += '\n';
    std::vector<const std::string*> cells;
    for (const Row& row : rows_) {
      cells.assign(names_.size(), nullptr);
      for (const auto& [column, cell] : row.cells) cells[column] = &cell;
      if (with_labels) text += row.label;
      for (size_t k = 0; k < cells.size(); ++k) {
        if (k > 0 || with_labels) text += ',';
        if (cells[k] != nullptr) text += *cells[k];
      }
      text += '\n';
    }
    return text;
  }

 private:
  struct Row {
    std::string label;
    std::vector<std::pair<size_t, std::string>> cells;  // column and text
  };

  size_t column(const std::string& name, const fs::path& file) {
    const auto [found, is_new] = columns_.emplace(name, names_.size());
    if (is_new) {
      require(names_.size() < kMostColumns,
              "'{}' is not a log of a training: its records have more than {} different names",
              file.string(), kMostColumns);
      names_.push_back(name);
    }
    return found->second;
  }

  std::map<std::string, size_t> columns_;
  std::vector<std::string> names_;  // of columns, in their order
  std::vector<Row> rows_;
};

}  // namespace

std::string metrics_csv(std::span<const fs::path> runs) {
  std::set<std::string> names;
  for (const fs::path& run : runs) names.insert(report::run_name(run));
  MetricsTable table;
  for (const fs::path& run : runs)
    table.add(
        run, csv_text(visible(names.size() == runs.size() ? report::run_name(run) : run.string())));
  return table.csv(runs.size() > 1);
}

}  // namespace tessera
