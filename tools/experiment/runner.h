#pragma once

#include <nlohmann/json.hpp>

#include <chrono>
#include <filesystem>
#include <functional>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "experiment/child_process.h"
#include "experiment/plan.h"
#include "experiment/result_store.h"
#include "experiment/stopped.h"
#include "files/folder_lock.h"

namespace tessera::experiment {

enum class JobStatus {
  not_run,  // not yet, or it was not asked for
  running,
  done,
  failed,  // it, or a job it needs
};

// The state of a job.
struct JobState {
  JobStatus status = JobStatus::not_run;
  std::string message;            // why it failed; several lines
  nlohmann::ordered_json result;  // of a job that is done, from the store
};

// Which jobs are done, according to the store.
std::vector<JobState> states_of(const Plan& plan, const ResultStore& store);

struct RunnerOptions {
  std::filesystem::path program = "/proc/self/exe";
  std::vector<std::string> globals;  // options of the program for every job: --device, --threads
  int jobs = 1;                      // processes at once
  // Dealt out to the jobs, each to the one with the fewest; empty: `globals` says where they
  // compute.
  std::vector<std::string> devices = {};
};

// Locks the folder of a store against other experiments. If an experiment was killed, its processes
// hold the lock until they have saved: waits for them. Throws Error, or Stopped.
FolderLock lock_store(const ResultStore& store, const std::stop_token& stop);

// Runs the jobs that are not done, each after those it needs, several at once.
class Runner {
 public:
  // Called after every change of a state.
  using Watcher = std::function<void(const std::vector<JobState>&)>;

  Runner(const Plan& plan, const ResultStore& store, RunnerOptions options, Watcher watcher)
      : plan_(plan), store_(store), options_(std::move(options)), watcher_(std::move(watcher)) {}

  // Other jobs run even if one fails. Throws Stopped when `stop` is requested, after the processes
  // have ended: trainings have saved.
  //   selected  which jobs to run
  //   lock      of the store: the processes hold it too
  std::vector<JobState> run(const std::vector<bool>& selected, const FolderLock& lock,
                            const std::stop_token& stop);

 private:
  struct Running {
    size_t job;
    ChildProcess process;
    std::string key;           // to store the result under
    std::uintmax_t log_begin;  // size of the log before it
    std::string device;        // of the options' list; empty: none
    std::chrono::steady_clock::time_point began;
  };

  void start_ready(const FolderLock& lock);
  void start(size_t job, const FolderLock& lock);
  void finish(Running& running, const Ending& ending);
  void record(size_t job, JobState state);
  bool fails_with_another(size_t job);
  //   device  to name; empty: none
  std::vector<std::string> command_of(const Job& job, bool begun, const std::string& device) const;
  std::string free_device() const;  // empty: there is no list

  const Plan& plan_;
  const ResultStore& store_;
  RunnerOptions options_;
  Watcher watcher_;
  std::vector<bool> open_;  // selected, and neither done nor begun
  std::vector<JobState> states_;
  std::vector<Running> running_;
  size_t ended_ = 0, total_ = 0;
};

}  // namespace tessera::experiment
