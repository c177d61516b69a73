#include "experiment/table.h"

#include "experiment/plan.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"

namespace tessera::fuzz {

void fuzz_table(std::string_view input) {
  const auto path = put("table.toml", input);
  put("recipe.toml", "train.steps = 10\n");  // used by all models of the seeds
  attempt([&] {
    const experiment::Table table = experiment::read_table(path);
    table.rows();
    table.column_groups();
    expect(!table.columns.empty(), "a table shows something");
    experiment::make_plan(table, experiment::ResultStore(work_folder()), {});
  });
}

}  // namespace tessera::fuzz
