#include "experiment/table_run.h"

#include "base/require.h"
#include "experiment/findings.h"
#include "experiment/runner.h"
#include "experiment/table_files.h"

#include <algorithm>

namespace tessera::experiment {

ExperimentResult run_table(const Table& table, const ExperimentRequest& request) {
  require_option(!request.out.empty(), "name a folder for the experiment");
  require_option(!request.program.empty(), "name the program `tessera`, which trains and measures");
  const ResultStore store(request.out);
  const Plan plan = make_plan(table, store, request.data);
  const std::vector<bool> selected = selected_jobs(table, plan, request.only);
  store.make_folders();
  const FolderLock lock = lock_store(store, request.stop);
  TableFiles files(
      table, plan, store,
      {.globals = request.flags, .command = request.command, .bootstrap = {.seed = request.seed}});
  Runner runner(plan, store,
                {.program = request.program,
                 .globals = request.flags,
                 .jobs = request.jobs,
                 .devices = request.devices},
                [&](const std::vector<JobState>& states) { files.try_to_write(states); });
  const std::vector<JobState> states = runner.run(selected, lock, request.stop);
  const Findings found = files.write(states);
  ExperimentResult result;
  result.markdown = markdown_table(found);
  result.json = json_table(found).dump(2, ' ', false, Json::error_handler_t::replace);
  result.page = files.path(".html");
  result.jobs = static_cast<int64_t>(states.size());
  result.failed = std::count_if(states.begin(), states.end(), [](const JobState& state) {
    return state.status == JobStatus::failed;
  });
  return result;
}

}  // namespace tessera::experiment
