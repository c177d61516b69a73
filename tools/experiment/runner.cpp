#include "experiment/runner.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <deque>
#include <fstream>
#include <sstream>
#include <thread>

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "files/files.h"
#include "files/hash.h"
#include "files/model_files.h"
#include "files/own_file.h"
#include "train/run_folder.h"

namespace tessera::experiment {
namespace {

namespace fs = std::filesystem;
using Clock = std::chrono::steady_clock;
using Json = nlohmann::ordered_json;

constexpr auto kGlance = std::chrono::milliseconds(20);  // between two looks at the processes
constexpr auto kSavingTime = std::chrono::minutes(2);    // for processes whose parent was killed
constexpr auto kDyingTime = std::chrono::seconds(1);     // for a process that was killed
constexpr size_t kLastLines = 8;                         // of a log, in a message
constexpr const char* kJobField = "job";                 // of a result: the key of the job alone
constexpr const char* kExtractorField = "extractor";     // and the hash of its extractor

// Whether a process has ended. The system still knows it until its parent has asked about it.
bool has_ended_unasked(pid_t process) {
  std::ifstream file(fmt::format("/proc/{}/stat", process));  // number (name) state ...
  std::string line;
  std::getline(file, line);
  return line.find(") Z ") != std::string::npos;
}

bool alive(pid_t process) {
  return (::kill(process, 0) == 0 || errno == EPERM) && !has_ended_unasked(process);
}

std::uintmax_t size_of(const fs::path& file) {
  std::error_code missing;
  const auto size = fs::file_size(file, missing);
  return missing ? 0 : size;
}

std::string last_lines(const fs::path& file, std::uintmax_t begin) {
  std::ifstream stream(file, std::ios::binary);
  stream.seekg(static_cast<std::streamoff>(begin));
  std::deque<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (line.starts_with("$ tessera ")) continue;  // what we wrote ourselves
    lines.push_back(line);
    if (lines.size() > kLastLines) lines.pop_front();
  }
  return fmt::format("{}", fmt::join(lines, "\n"));
}

bool needs_are_done(const Job& job, const std::vector<JobState>& states) {
  return std::all_of(job.needs.begin(), job.needs.end(),
                     [&](size_t needed) { return states[needed].status == JobStatus::done; });
}

// To save disk space, people remove the checkpoints of finished runs, or the large files in them,
// and keep the results. Throws Error if that cannot be told now: checkpoints without weights are
// removed.
bool has_weights(const fs::path& run) {
  const fs::path folder = run / "checkpoints";
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure))
    if (is_model_folder(entry->path())) return true;
  if (failure && is_there(folder)) throw file_error("read", folder, failure.value());
  return false;
}

void append_line(const fs::path& file, const std::string& text) {
  const int descriptor = open_own_file(file, O_WRONLY | O_APPEND);
  const std::string line = text + "\n";
  const bool written = ::write(descriptor, line.data(), line.size()) >= 0;
  const int code = errno;
  ::close(descriptor);
  if (!written) throw file_error("write", file, code);
}

// Evaluations of text leave sentences, those of images do not.
bool leaves_sentences(const Job& job) {
  return std::find(job.command.begin(), job.command.end(), "--out") != job.command.end();
}

bool has_extractor(const Job& job) {
  const auto extractor = extractor_of(job);
  std::error_code ignored;
  return !extractor || fs::is_regular_file(*extractor, ignored);
}

// A result whose weights or extractor are gone, found by what is still known of them.
std::optional<Json> result_of_the_past(const Job& job, const ResultStore& store) {
  auto result = store.find(job.name, job.key, kJobField);
  const auto extractor = extractor_of(job);
  if (result && extractor && has_extractor(job) && result->contains(kExtractorField) &&
      result->at(kExtractorField) != file_hash(*extractor))
    return std::nullopt;
  return result;
}

// Removes it if it exists. Throws Error.
void remove_old(const fs::path& path) {
  std::error_code ignored;
  require(!fs::exists(path, ignored) || remove_tree(path), "cannot remove '{}'", path.string());
}

// Checks what evaluations will need, before hours of training.
void require_extractor(const Job& job) {
  if (!has_extractor(job))
    throw UsageError(fmt::format("{}: there is no file '{}' for --features", job.title,
                                 extractor_of(job)->string()),
                     "tables that measure images take the extractor by --set features=FILE");
}

// The stored result of a finished job; nothing if it is not finished.
std::optional<Json> stored_result(const Job& job, const ResultStore& store) {
  std::error_code ignored;
  switch (job.kind) {
    case JobKind::training:
      if (!train::RunFolder::is_one(job.folder)) return std::nullopt;
      break;
    case JobKind::distillation:
      if (!fs::is_directory(job.folder, ignored)) return std::nullopt;
      break;
    case JobKind::evaluation:
      if (leaves_sentences(job) && !fs::exists(store.hypotheses(job.name), ignored))
        return std::nullopt;
      if (!std::all_of(job.runs.begin(), job.runs.end(), has_weights) || !has_extractor(job))
        return result_of_the_past(job, store);
      break;
  }
  return store.find(job.name, result_key(job));
}

}  // namespace

std::vector<JobState> states_of(const Plan& plan, const ResultStore& store) {
  std::vector<JobState> states(plan.jobs.size());
  for (size_t k = 0; k < plan.jobs.size(); ++k) {
    if (!needs_are_done(plan.jobs[k], states)) continue;
    if (auto result = stored_result(plan.jobs[k], store))
      states[k] = {JobStatus::done, "", std::move(*result)};
  }
  return states;
}

FolderLock lock_store(const ResultStore& store, const std::stop_token& stop) {
  const auto begin = Clock::now();
  for (bool said = false;;) {
    try {
      return FolderLock(store.folder() / "lock", "experiment",
                        "wait for its end or stop it, or choose another folder (--out)");
    } catch (const FolderLock::Held& held) {
      const bool killed = held.process() > 0 && !alive(held.process());
      if (Clock::now() > begin + (killed ? Clock::duration(kSavingTime) : kDyingTime)) throw;
      if (killed && !said)
        log::info("an experiment was killed in '{}': waiting for its processes to save",
                  store.folder().string());
      said = killed;
    }
    if (stop.stop_requested()) throw Stopped();
    std::this_thread::sleep_for(10 * kGlance);
  }
}

std::vector<JobState> Runner::run(const std::vector<bool>& selected, const FolderLock& lock,
                                  const std::stop_token& stop) {
  states_ = states_of(plan_, store_);
  open_.assign(plan_.jobs.size(), false);
  for (size_t k = 0; k < plan_.jobs.size(); ++k)
    open_[k] = selected[k] && states_[k].status != JobStatus::done;
  // A run whose checkpoints are gone is trained again if its weights are needed.
  for (size_t k = 0; k < plan_.jobs.size(); ++k) {
    if (!open_[k]) continue;
    for (const size_t needed : plan_.jobs[k].needs) {
      const Job& job = plan_.jobs[needed];
      if (job.kind != JobKind::training || has_weights(job.folder)) continue;
      states_[needed] = {};
      open_[needed] = true;
    }
  }
  for (size_t k = 0; k < plan_.jobs.size(); ++k)
    if (open_[k]) require_extractor(plan_.jobs[k]);
  ended_ = 0;
  total_ = static_cast<size_t>(std::count(open_.begin(), open_.end(), true));
  log::info("{}: {} done, {} to run", counted(std::ssize(plan_.jobs), "job"),
            std::count_if(states_.begin(), states_.end(),
                          [](const JobState& s) { return s.status == JobStatus::done; }),
            total_);
  watcher_(states_);

  bool told = false;
  while (true) {
    if (stop.stop_requested() && !std::exchange(told, true)) {
      if (!running_.empty())
        log::info("stopping: waiting for {}",
                  counted(std::ssize(running_), "process", "processes"));
      for (const Running& running : running_) running.process.stop();
    }
    if (!told) start_ready(lock);
    if (running_.empty()) break;
    for (size_t k = 0; k < running_.size();) {
      const auto ending = running_[k].process.poll();
      if (!ending) {
        ++k;
        continue;
      }
      Running ended = std::move(running_[k]);
      running_.erase(running_.begin() + static_cast<std::ptrdiff_t>(k));
      // A job that was told to stop has not failed. It may have finished all the same.
      if (told && !ending->good())
        record(ended.job, {});
      else
        finish(ended, *ending);
    }
    std::this_thread::sleep_for(kGlance);
  }
  if (told) throw Stopped();
  return states_;
}

void Runner::record(size_t job, JobState state) {
  states_[job] = std::move(state);
  watcher_(states_);
}

// A job that needs a failed job has failed, too.
bool Runner::fails_with_another(size_t job) {
  for (const size_t needed : plan_.jobs[job].needs) {
    if (states_[needed].status != JobStatus::failed) continue;
    open_[job] = false;
    ++ended_;
    record(job, {JobStatus::failed,
                 fmt::format("it needs '{}', which failed", plan_.jobs[needed].title),
                 {}});
    return true;
  }
  return false;
}

void Runner::start_ready(const FolderLock& lock) {
  for (size_t k = 0; k < plan_.jobs.size(); ++k) {
    if (!open_[k] || fails_with_another(k) || !needs_are_done(plan_.jobs[k], states_)) continue;
    if (running_.size() >= static_cast<size_t>(options_.jobs)) return;
    open_[k] = false;
    try {
      start(k, lock);
    } catch (const Error& error) {  // a full disk, no more processes
      ++ended_;
      log::error("[{}/{}] {}: {}", ended_, total_, plan_.jobs[k].title, error.what());
      record(k, {JobStatus::failed, error.what(), {}});
    }
  }
}

std::string Runner::free_device() const {
  const auto at_work = [&](const std::string& device) {
    return std::count_if(running_.begin(), running_.end(),
                         [&](const Running& running) { return running.device == device; });
  };
  const auto found = std::min_element(
      options_.devices.begin(), options_.devices.end(),
      [&](const std::string& a, const std::string& b) { return at_work(a) < at_work(b); });
  return found == options_.devices.end() ? "" : *found;
}

std::vector<std::string> Runner::command_of(const Job& job, bool begun,
                                            const std::string& device) const {
  std::vector<std::string> words = options_.globals;
  if (!device.empty()) words.insert(words.end(), {"--device", device});
  const auto& command = begun ? job.resume : job.command;
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

void Runner::start(size_t number, const FolderLock& lock) {
  const Job& job = plan_.jobs[number];
  // What it needs is done now, so there may be a stored result for these weights.
  auto result = job.kind == JobKind::training ? std::nullopt : stored_result(job, store_);
  if (result) {
    ++ended_;
    return record(number, {JobStatus::done, "", std::move(*result)});
  }
  const bool begun = job.kind == JobKind::training && train::RunFolder::is_one(job.folder);
  // A run that is trained again is not done until it has finished again.
  if (begun) remove_old(store_.result(job.name));
  // The training cannot go on from checkpoints without weights.
  if (begun && !has_weights(job.folder)) remove_old(job.folder / "checkpoints");
  const std::string device = free_device();
  const std::vector<std::string> words = command_of(job, begun, device);
  const fs::path log_file = store_.log(job.name), out_file = store_.output(job.name);
  const std::uintmax_t log_begin = size_of(log_file);
  refuse_link(store_.hypotheses(job.name));  // which the process writes
  append_line(log_file, "$ tessera " + shell_text(words));
  write_file_atomically(out_file, "");
  log::info("{}: {} ({})", job.title, begun ? "going on" : "started", log_file.string());
  running_.push_back({number,
                      ChildProcess(words, {.program = options_.program,
                                           .out = out_file,
                                           .err = log_file,
                                           .keep_open = lock.descriptor()}),
                      result_key(job), log_begin, device, Clock::now()});
  record(number, {JobStatus::running, "", {}});
}

void Runner::finish(Running& running, const Ending& ending) {
  const Job& job = plan_.jobs[running.job];
  const double seconds = std::chrono::duration<double>(Clock::now() - running.began).count();
  ++ended_;
  std::string problem;
  if (!ending.good()) {
    problem =
        fmt::format("{}\n{}", ending.text(), last_lines(store_.log(job.name), running.log_begin));
  } else {
    try {
      Json result{{kJobField, job.key},
                  {"command", "tessera " + shell_text(command_of(job, false, ""))},
                  {"seed", job.seed}};
      if (job.kind == JobKind::evaluation) {
        result["evaluation"] =
            Json::parse(read_file(store_.output(job.name)), nullptr, /*allow_exceptions=*/false);
        require(result["evaluation"].is_object(), "'{}' is not JSON",
                store_.output(job.name).string());
        if (const auto extractor = extractor_of(job))
          result[kExtractorField] = file_hash(*extractor);
      }
      store_.put(job.name, running.key, result);
      log::info("[{}/{}] {}: done in {}", ended_, total_, job.title, duration_text(seconds));
      return record(running.job, {JobStatus::done, "", std::move(result)});
    } catch (const Error& error) {
      problem = error.what();
    }
  }
  log::error("[{}/{}] {}: {}", ended_, total_, job.title, problem);
  record(running.job, {JobStatus::failed, problem, {}});
}

}  // namespace tessera::experiment
