#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tessera::train {

// Which checkpoints of a run stay on disk. The newest always does.
struct RetentionOptions {
  int64_t keep_last = 3;  // the newest ones, at least 1
  int64_t keep_best = 1;  // those with the highest scores, in addition
};

struct Checkpoint {
  int64_t step = 0;  // updates done when it was written
  std::filesystem::path folder;
  std::optional<double> score;  // higher is better; none: it was not measured
};

// The checkpoints of a run, one folder each, with links for people and scripts:
//   run/checkpoints/step-00001000/   what the trainer wrote, and manifest.json
//   run/last, run/best               links to the newest and to the one with the highest score
// A folder with such a name is complete at every moment: it is written under a temporary name, made
// durable and renamed. manifest.json lists size and hash of every file, so that later damage is
// found. Only the folders count; the links may be missing (in a run that was copied).
//
// One process writes (RunFolder::lock), any number may read meanwhile.
class Checkpoints {
 public:
  using Fill = std::function<void(const std::filesystem::path& folder)>;

  // For reading; changes nothing on disk. The run need not have any checkpoints.
  explicit Checkpoints(const std::filesystem::path& run_folder);

  // For writing: removes what killed processes left behind, finishes what they began, corrects the
  // links.
  Checkpoints(const std::filesystem::path& run_folder, const RetentionOptions& retention);

  // Writes the checkpoint of `step`: calls `fill` with an empty folder to put files into, then
  // makes it appear, moves the links and removes checkpoints that need not stay. Throws Error if
  // the disk has no room for one more, or whatever `fill` throws; earlier checkpoints are then
  // untouched and nothing else is left. One of the same step (a resumed run reaches it again) is
  // kept if its files are equal, else replaced.
  Checkpoint save(int64_t step, const Fill& fill, std::optional<double> score = {});

  // Sets the score of an existing checkpoint, if it is known only after saving. Moves `best`, and
  // removes what need not stay. A score that is not finite is ignored with a warning.
  void record_score(int64_t step, double score);

  // Removes all checkpoints after `step`: the run goes on from there.
  void discard_after(int64_t step);

  // Those with a complete manifest, oldest first. Their other files are not checked. Throws Error
  // if one cannot be read now.
  std::vector<Checkpoint> all() const;

  // The newest complete one: all files are there and unchanged. Damaged ones are skipped with a
  // warning. One that has a newer format, or that cannot be read now (permissions, a network disk),
  // is an Error.
  std::optional<Checkpoint> newest() const;

  // The one with the highest score, if any has one. Its files are not checked.
  std::optional<Checkpoint> best() const;

  // By name: "last" (newest()), "best" or a step ("1000"). Throws Error that lists the existing
  // ones if it is missing or damaged, UsageError for other names.
  Checkpoint resolve(const std::string& name) const;

 private:
  void finish_interrupted_work() const;
  void require_space() const;
  std::filesystem::path link_target(int64_t step) const;
  void set_links() const;
  void link_best(const std::vector<Checkpoint>& there) const;
  void remove(const std::filesystem::path& folder) const;
  void prune() const;

  std::filesystem::path run_;
  std::filesystem::path parent_;  // run/checkpoints
  RetentionOptions retention_;
};

}  // namespace tessera::train
