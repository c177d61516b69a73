#include "experiment/estimate.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <thread>

#include "base/log.h"
#include "experiment/columns.h"
#include "files/files.h"
#include "task/stored_recipe.h"
#include "train/checkpoints.h"
#include "train/run_folder.h"

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;

// A distilled corpus that does not exist yet is about as large as the one it is made from.
fs::path corpus_for_trial(const Plan& plan, const Job& job) {
  std::error_code ignored;
  for (const size_t needed : job.needs) {
    const Job& maker = plan.jobs[needed];
    if (maker.kind != JobKind::distillation || fs::is_directory(maker.folder, ignored)) continue;
    const auto source = std::find(maker.command.begin(), maker.command.end(), "--data");
    return *(source + 1);
  }
  return job.corpus;
}

std::vector<std::string> trial_command(const Plan& plan, const Job& job,
                                       const RunnerOptions& options) {
  std::vector<std::string> words = options.globals;
  const fs::path corpus = corpus_for_trial(plan, job);
  for (const std::string& word : job.command) {
    if (word.starts_with("train.out=")) continue;
    words.push_back(word.starts_with("data.dir=") ? "data.dir=" + corpus.string() : word);
  }
  words.insert(words.end(), {"--dry-run", "--json"});
  return words;
}

// How much of a run is still to be done, 0 to 1.
double share_left(const Job& job) {
  if (!train::RunFolder::is_one(job.folder)) return 1;
  const train::RunFolder folder = train::RunFolder::open(job.folder);
  const auto checkpoints = train::Checkpoints(job.folder).all();
  if (checkpoints.empty()) return 1;
  const auto steps = static_cast<double>(task::StoredRecipe(folder).recipe.run.steps);
  return std::clamp(1 - static_cast<double>(checkpoints.back().step) / steps, 0.0, 1.0);
}

// The error message of a failed process, or its last line.
std::string problem_in(const std::string& text) {
  std::istringstream lines(text);
  std::string last = "it said nothing";
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("error: ")) return line.substr(7);
    if (!line.empty()) last = line;
  }
  return last;
}

// Hours of the whole run.
void try_out(Estimate& result, const std::vector<std::string>& command,
             const RunnerOptions& options, const std::stop_token& stop) {
  const AtomicFolder scratch(fs::temp_directory_path());  // gone at the end
  const fs::path out = scratch.path() / "out", err = scratch.path() / "err";
  ChildProcess process(command, {.program = options.program, .out = out, .err = err});
  std::optional<Ending> ending;
  while (!(ending = process.poll())) {
    if (stop.stop_requested()) throw Stopped();
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
  }
  const Json json = Json::parse(read_file(out), nullptr, /*allow_exceptions=*/false);
  if (!ending->good() || !json.is_object() || !json.contains("hours")) {
    result.problem = problem_in(read_file(err));
    return;
  }
  result.hours = json["hours"].get<double>();
  result.updates_per_second = json.value("updates_per_second", 0.0);
}

}  // namespace

std::vector<Estimate> estimate(const Table& table, const Plan& plan,
                               const std::vector<JobState>& states,
                               const std::vector<bool>& selected, const RunnerOptions& options,
                               const std::stop_token& stop) {
  std::vector<Estimate> estimates;
  for (const Model& model : table.models) {
    Estimate result;
    result.model = model.name;
    const Job* first = nullptr;
    double runs_left = 0;
    for (size_t k = 0; k < plan.jobs.size(); ++k) {
      const Job& job = plan.jobs[k];
      if (job.kind != JobKind::training || job.model != model.name || !selected[k] ||
          states[k].status == JobStatus::done)
        continue;
      if (!first) first = &job;
      runs_left += share_left(job);
      ++result.runs;
    }
    if (!first) continue;
    log::info("trying {}", model.name);
    try_out(result, trial_command(plan, *first, options), options, stop);
    if (result.hours) *result.hours *= runs_left;
    estimates.push_back(std::move(result));
  }
  return estimates;
}

}  // namespace tessera::experiment
