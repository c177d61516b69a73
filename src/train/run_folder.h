#pragma once

#include "files/folder_lock.h"

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::train {

// A folder that holds a training run, and the names in it:
//   config.toml     the configuration in effect; a folder with one is a run folder
//   metrics.jsonl   what was measured (MetricsLog)
//   checkpoints/    last, best  (Checkpoints)
//   lock            held while a process trains
class RunFolder {
 public:
  // A new run: makes the folder (an empty one may exist), locks it. Throws Error if it already
  // holds a run, or anything else. It is a run folder once write_config() was called.
  static RunFolder create(const std::filesystem::path& path);

  // An existing run, for reading. Throws Error if there is none.
  static RunFolder open(const std::filesystem::path& path);

  // A run that another process makes and looks after; nothing is read or written.
  static RunFolder of_another_process(std::filesystem::path path) {
    return RunFolder(std::move(path));
  }

  // Whether the folder holds a run. Throws Error if that cannot be told now.
  static bool is_one(const std::filesystem::path& path);

  // Makes this process the only one that trains in the folder, until the object's end; a process
  // that dies releases its lock. Throws Error if another one holds the lock, or if a file that
  // would be written is a link. A second call does nothing.
  void lock();

  void write_config(std::string_view toml) const;

  // For a new run that could not begin: removes all that is in the folder, and the folders that
  // create() made.
  void abandon();

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path lock_file() const { return path_ / "lock"; }

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  std::vector<std::filesystem::path> made_;  // folders that create() made, the deepest first
  std::optional<FolderLock> lock_;           // if this process holds it
};

}  // namespace tessera::train
