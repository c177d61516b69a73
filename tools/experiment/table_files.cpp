#include "experiment/table_files.h"

#include <utility>

#include "base/log.h"
#include "files/files.h"

namespace tessera::experiment {
namespace {

// The key of an empty column is most likely misspelt.
void warn_of_empty_columns(const Findings& findings) {
  const std::vector<Column>& columns = findings.table->columns;
  for (size_t k = 0; k < columns.size(); ++k) {
    size_t done = 0, values = 0;
    for (const FoundCell& cell : findings.cells)
      for (const Measured& measured : cell.measured) {
        done += measured.done();
        values += measured.values[k].has_value();
      }
    if (done > 0 && values == 0)
      log::warn("no evaluation has a value '{}' (see \"evaluation\" in the table's JSON)",
                columns[k].key);
  }
}

}  // namespace

TableFiles::TableFiles(const Table& table, const Plan& plan, const ResultStore& store,
                       TableFilesOptions options)
    : table_(table),
      plan_(plan),
      store_(store),
      options_(std::move(options)),
      contests_(options_.bootstrap) {}

Findings TableFiles::find_and_write(const std::vector<JobState>& states) {
  Findings findings = find(table_, plan_, states, store_, options_.globals, contests_);
  findings.command = options_.command;
  write_file_atomically(path(".md"), markdown_table(findings));
  write_file_atomically(path(".json"), json_table(findings).dump(2) + "\n");
  write_file_atomically(path(".html"), html_table(findings));
  return findings;
}

Findings TableFiles::write(const std::vector<JobState>& states) {
  Findings findings = find_and_write(states);
  warn_of_empty_columns(findings);
  return findings;
}

void TableFiles::try_to_write(const std::vector<JobState>& states) {
  try {
    find_and_write(states);
    complained_ = false;
  } catch (const Error& error) {
    if (!std::exchange(complained_, true)) log::error("{}", error.what());
  }
}

std::filesystem::path TableFiles::path(const std::string& ending) const {
  return store_.folder() / (table_.name() + ending);
}

}  // namespace tessera::experiment
