#include "train/checkpoints.h"

#include "base/log.h"
#include "base/require.h"
#include "base/rounding.h"
#include "files/checkpoint_manifest.h"
#include "files/files.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>
#include <system_error>

namespace tessera::train {
namespace fs = std::filesystem;
namespace {

constexpr std::string_view kStep = "step-";
// Prefix of a folder that is being removed. It is renamed first, so that a kill in the middle
// leaves no damaged checkpoint.
constexpr std::string_view kRemoving = ".removing-";

constexpr uint64_t kMebibyte = 1 << 20;
constexpr uint64_t kSpareBytes = kMebibyte;  // for the log and the file system's own tables

std::string name_of_step(int64_t step) {
  return fmt::format("{}{:08}", kStep, step);
}

std::optional<int64_t> parse_step(std::string_view digits) {
  int64_t step = 0;
  const auto [end, failure] = std::from_chars(digits.data(), digits.data() + digits.size(), step);
  if (failure != std::errc() || end != digits.data() + digits.size() || step < 0)
    return std::nullopt;
  return step;
}

// Throws if that cannot be told now: a checkpoint that is skipped for this reason would be made
// again.
bool is_folder(const fs::path& path) {
  std::error_code failure;
  const bool found = fs::is_directory(path, failure);
  if (failure && failure != std::errc::no_such_file_or_directory)
    throw file_error("look at", path, failure.value());
  return found;
}

std::vector<fs::path> entries(const fs::path& folder) {
  std::vector<fs::path> found;
  if (!is_there(folder)) return found;
  std::error_code failure;
  for (fs::directory_iterator entry(folder, failure), end; !failure && entry != end;
       entry.increment(failure))
    found.push_back(entry->path());
  if (failure) throw file_error("read", folder, failure.value());
  return found;
}

struct StepFolder {
  int64_t step;
  fs::path folder;
};

// The folders that have the name of a checkpoint, oldest first.
std::vector<StepFolder> step_folders(const fs::path& parent) {
  std::vector<StepFolder> found;
  for (const fs::path& path : entries(parent)) {
    const std::string name = path.filename().string();
    if (!name.starts_with(kStep)) continue;
    const auto step = parse_step(std::string_view(name).substr(kStep.size()));
    if (step && name == name_of_step(*step) && is_folder(path)) found.push_back({*step, path});
  }
  std::sort(found.begin(), found.end(),
            [](const StepFolder& a, const StepFolder& b) { return a.step < b.step; });
  return found;
}

CheckpointManifest read_manifest(const StepFolder& of) {
  CheckpointManifest manifest = CheckpointManifest::read(of.folder);
  require(manifest.step == of.step, "'{}' holds the checkpoint of step {}", of.folder.string(),
          manifest.step);
  return manifest;
}

// Checks every byte; throws Error that says what is wrong.
Checkpoint verified(const StepFolder& of) {
  const CheckpointManifest manifest = read_manifest(of);
  if (const auto damage = manifest.damage(of.folder))
    throw Error(fmt::format("'{}' is damaged: {}", of.folder.string(), *damage));
  return {of.step, of.folder, manifest.score};
}

// Whether an error says nothing about the checkpoint: it has a later format, or it exists but
// cannot be read now (permissions, a network disk). To skip it would be to lose it.
bool must_be_heard(const Error& error) {
  const auto* const file = dynamic_cast<const FileError*>(&error);
  return (file && !file->missing()) || dynamic_cast<const NewerFormat*>(&error);
}

// If scores are equal, the later one is better, because it has learnt for longer: scores such as
// exact match stay at zero for a while.
bool is_better(const Checkpoint& a, const Checkpoint& b) {
  return a.score > b.score || (a.score == b.score && a.step > b.step);
}

// Those that have a score, best first.
std::vector<Checkpoint> ranked(std::vector<Checkpoint> checkpoints) {
  std::erase_if(checkpoints, [](const Checkpoint& each) { return !each.score; });
  std::sort(checkpoints.begin(), checkpoints.end(), is_better);
  return checkpoints;
}

std::string listing(const std::vector<Checkpoint>& checkpoints) {
  if (checkpoints.empty()) return "the run has no checkpoint yet";
  std::vector<std::string> items;
  for (const Checkpoint& each : checkpoints)
    items.push_back(each.score ? fmt::format("{} (score {:.2f})", each.step, *each.score)
                               : fmt::format("{}", each.step));
  return fmt::format("there are: {}", fmt::join(items, ", "));
}

std::optional<double> usable_score(std::optional<double> score, int64_t step) {
  if (!score || std::isfinite(*score)) return score;
  log::warn("the score of step {} is {}: it does not count", step, *score);
  return std::nullopt;
}

// The manifest in `folder`, if the folder is complete and has exactly the files `manifest` lists.
std::optional<CheckpointManifest> equal_checkpoint(const fs::path& folder,
                                                   const CheckpointManifest& manifest) {
  try {
    CheckpointManifest old = CheckpointManifest::read(folder);
    if (old.step == manifest.step && old.files == manifest.files && !old.damage(folder)) return old;
  } catch (const Error& error) {
    if (must_be_heard(error)) throw;
    // Broken, so not equal.
  }
  return std::nullopt;
}

// A run goes on without links: they are for people.
void set_link(const fs::path& link, const fs::path& target) {
  std::error_code ignored;
  if (fs::read_symlink(link, ignored) == target) return;
  try {
    replace_symlink(link, target);
  } catch (const Error& error) {
    log::warn("{}", error.what());
  }
}

void remove_link(const fs::path& link) {
  std::error_code ignored;
  if (fs::is_symlink(fs::symlink_status(link, ignored))) fs::remove(link, ignored);
}

}  // namespace

Checkpoints::Checkpoints(const fs::path& run_folder)
    : run_(run_folder), parent_(run_folder / "checkpoints") {}

Checkpoints::Checkpoints(const fs::path& run_folder, const RetentionOptions& retention)
    : Checkpoints(run_folder) {
  retention_ = retention;
  require_option(retention_.keep_last >= 1, "keep_last must be at least 1, got {}",
                 retention_.keep_last);
  require_option(retention_.keep_best >= 0, "keep_best must be at least 0, got {}",
                 retention_.keep_best);
  std::error_code failure;
  fs::create_directories(parent_, failure);
  if (failure) throw file_error("make the folder", parent_, failure.value());
  finish_interrupted_work();
  set_links();
}

Checkpoint Checkpoints::save(int64_t step, const Fill& fill, std::optional<double> score) {
  require(step >= 0, "a checkpoint cannot be of step {}", step);
  require_space();
  AtomicFolder pending(parent_);
  fill(pending.path());
  CheckpointManifest manifest =
      CheckpointManifest::of_folder(pending.path(), step, usable_score(score, step));
  manifest.write(pending.path());

  const fs::path folder = parent_ / name_of_step(step);
  if (!is_there(folder)) {
    pending.commit(name_of_step(step));
  } else if (const auto old = equal_checkpoint(folder, manifest)) {
    if (!manifest.score) manifest.score = old->score;
    if (manifest.score != old->score) manifest.write(folder);
  } else {
    pending.replace(name_of_step(step));
  }
  set_link(run_ / "last", link_target(step));
  link_best(all());
  prune();
  return {step, folder, manifest.score};
}

void Checkpoints::record_score(int64_t step, double score) {
  const fs::path folder = parent_ / name_of_step(step);
  CheckpointManifest manifest = read_manifest({step, folder});
  const auto usable = usable_score(score, step);
  if (!usable || usable == manifest.score) return;
  manifest.score = usable;
  manifest.write(folder);
  link_best(all());
  prune();
}

void Checkpoints::discard_after(int64_t step) {
  for (const StepFolder& each : step_folders(parent_))
    if (each.step > step) remove(each.folder);
  set_links();
}

std::vector<Checkpoint> Checkpoints::all() const {
  std::vector<Checkpoint> found;
  for (const StepFolder& each : step_folders(parent_)) {
    try {
      found.push_back({each.step, each.folder, read_manifest(each).score});
    } catch (const FileError& error) {
      if (!error.missing()) throw;
    } catch (const Error&) {
      // newest() and resolve() report what is wrong with it.
    }
  }
  return found;
}

std::optional<Checkpoint> Checkpoints::newest() const {
  const std::vector<StepFolder> folders = step_folders(parent_);
  for (auto each = folders.rbegin(); each != folders.rend(); ++each) {
    try {
      return verified(*each);
    } catch (const NewerFormat&) {
      throw;
    } catch (const Error& error) {
      if (must_be_heard(error))
        throw Error(error.what(),
                    fmt::format("wait until it can be read; to go on from an older checkpoint, "
                                "move '{}' away",
                                each->folder.string()));
      // If it is gone, the process that trains here has just removed it as an old one.
      if (is_there(each->folder))
        log::warn("checkpoint {} is passed over: {}", each->step, error.what());
    }
  }
  return std::nullopt;
}

std::optional<Checkpoint> Checkpoints::best() const {
  const std::vector<Checkpoint> best_first = ranked(all());
  return best_first.empty() ? std::nullopt : std::optional(best_first.front());
}

Checkpoint Checkpoints::resolve(const std::string& name) const {
  const std::vector<Checkpoint> there = all();
  const auto none = [&](const std::string& what) {
    return Error(fmt::format("{} in '{}'", what, run_.string()), listing(there));
  };
  if (name == "last") {
    const auto found = newest();
    if (!found) throw none("no complete checkpoint");
    return *found;
  }
  std::optional<int64_t> step;
  if (name == "best") {
    const std::vector<Checkpoint> best = ranked(there);
    if (best.empty()) throw none("no checkpoint with a score");
    step = best.front().step;
  } else {
    step = parse_step(name.starts_with(kStep) ? name.substr(kStep.size()) : name);
    if (!step)
      throw UsageError(
          fmt::format("unknown checkpoint '{}': must be best, last or the number of a step", name),
          listing(there));
  }
  const StepFolder place{*step, parent_ / name_of_step(*step)};
  if (!is_there(place.folder)) throw none(fmt::format("no checkpoint of step {}", *step));
  try {
    return verified(place);
  } catch (const Error& error) {
    if (must_be_heard(error)) throw;
    throw Error(error.what(), listing(there));
  }
}

void Checkpoints::finish_interrupted_work() const {
  remove_leftovers(run_);
  remove_leftovers(parent_);
  for (const fs::path& path : entries(parent_))
    if (path.filename().string().starts_with(kRemoving)) remove_tree(path);
  for (const StepFolder& each : step_folders(parent_)) remove_leftovers(each.folder);
}

void Checkpoints::require_space() const {
  const std::vector<Checkpoint> there = all();
  if (there.empty()) return;
  const uint64_t size = CheckpointManifest::read(there.back().folder).total_size();
  const uint64_t needed = size + kSpareBytes;
  const auto available = [this] {
    std::error_code failure;
    const fs::space_info space = fs::space(parent_, failure);
    return failure ? std::numeric_limits<uintmax_t>::max() : space.available;
  };
  if (available() >= needed) return;
  // A run that is resumed with a smaller keep_last can make room by removing checkpoints, unless it
  // must keep an older one in place of a damaged one.
  const auto whole = newest();
  if (whole && whole->step == there.back().step) prune();
  if (available() >= needed) return;
  throw Error(fmt::format("no room for a checkpoint in '{}': it takes {} MiB and the log {} MiB, "
                          "{} MiB are free",
                          parent_.string(), ceil_div(size, kMebibyte), kSpareBytes / kMebibyte,
                          available() / kMebibyte),
              "free some space, or keep fewer checkpoints (train.keep_last)");
}

fs::path Checkpoints::link_target(int64_t step) const {
  return parent_.filename() / name_of_step(step);
}

void Checkpoints::set_links() const {
  const std::vector<Checkpoint> there = all();
  if (there.empty())
    remove_link(run_ / "last");
  else
    set_link(run_ / "last", link_target(there.back().step));
  link_best(there);
}

void Checkpoints::link_best(const std::vector<Checkpoint>& there) const {
  const std::vector<Checkpoint> best = ranked(there);
  if (best.empty() || retention_.keep_best == 0)
    remove_link(run_ / "best");
  else
    set_link(run_ / "best", link_target(best.front().step));
}

void Checkpoints::remove(const fs::path& folder) const {
  const fs::path leaving = parent_ / (std::string(kRemoving) + folder.filename().string());
  remove_tree(leaving);
  std::error_code failure;
  fs::rename(folder, leaving, failure);
  if (failure || !remove_tree(leaving)) log::warn("cannot remove '{}'", folder.string());
}

void Checkpoints::prune() const {
  const std::vector<Checkpoint> there = all();
  const std::vector<Checkpoint> best = ranked(there);
  std::set<int64_t> kept;
  const auto keep = [&kept](auto begin, auto end, int64_t count) {
    for (; begin != end && count > 0; ++begin, --count) kept.insert(begin->step);
  };
  keep(there.rbegin(), there.rend(), retention_.keep_last);
  keep(best.begin(), best.end(), retention_.keep_best);
  for (const Checkpoint& each : there) {
    std::error_code ignored;
    const bool linked = fs::read_symlink(run_ / "last", ignored) == link_target(each.step) ||
                        fs::read_symlink(run_ / "best", ignored) == link_target(each.step);
    if (!linked && !kept.contains(each.step)) remove(each.folder);
  }
}

}  // namespace tessera::train
