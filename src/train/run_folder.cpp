#include "train/run_folder.h"

#include "base/require.h"
#include "files/files.h"
#include "files/own_file.h"

#include <system_error>

namespace tessera::train {
namespace fs = std::filesystem;
namespace {

bool has_folder(const fs::path& path) {
  return is_there(path) && fs::is_directory(path);
}

void refuse_second_run(const fs::path& path) {
  if (RunFolder::is_one(path))
    throw Error(fmt::format("'{}' holds a run already", path.string()),
                fmt::format("'tessera train --resume {}' goes on with it; for a new run choose "
                            "another folder (train.out)",
                            path.string()));
}

// The folders of a path that do not exist, the deepest first.
std::vector<fs::path> missing_folders(const fs::path& path) {
  std::vector<fs::path> missing;
  for (fs::path folder = fs::absolute(path).lexically_normal(); !is_there(folder);
       folder = folder.parent_path())
    if (folder.has_filename()) missing.push_back(folder);
  return missing;
}

// Throws if the folder is not empty: what a run writes would get mixed with what is there. The lock
// of a run that was killed before it began does not count.
//   lock  the file of that lock
void refuse_full_folder(const fs::path& path, const fs::path& lock) {
  if (has_folder(path / "checkpoints"))
    throw Error(
        fmt::format("'{}' holds checkpoints of a run that has lost its config.toml", path.string()),
        "choose another folder (train.out)");
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path, ignored)) {
    const std::string name = entry.path().filename().string();
    if (name == lock.filename()) continue;
    throw Error(fmt::format("'{}' is not empty: the run would get mixed with what is there ('{}')",
                            path.string(), name),
                "choose a new folder for the run (train.out)");
  }
}

}  // namespace

bool RunFolder::is_one(const fs::path& path) {
  return is_there(path / "config.toml") && fs::is_regular_file(path / "config.toml");
}

RunFolder RunFolder::create(const fs::path& path) {
  refuse_second_run(path);
  if (has_folder(path)) remove_leftovers(path);  // of a run that was killed before it began
  refuse_full_folder(path, RunFolder(path).lock_file());
  const std::vector<fs::path> missing = missing_folders(path);
  std::error_code failure;
  fs::create_directories(path, failure);
  if (failure) throw file_error("make the folder", path, failure.value());
  RunFolder run(path);
  run.made_ = missing;
  run.lock();
  refuse_second_run(path);  // another run may have come and gone
  return run;
}

RunFolder RunFolder::open(const fs::path& path) {
  require(has_folder(path), "there is no run folder '{}'", path.string());
  if (!is_one(path))
    throw Error(fmt::format("'{}' is not a run folder: it has no config.toml", path.string()),
                "'tessera train RECIPE train.out=FOLDER' makes one");
  return RunFolder(path);
}

void RunFolder::lock() {
  if (lock_) return;
  // Before anything is written: what links point to is not part of the run.
  for (const fs::path& file : {config(), metrics(), lock_file()}) refuse_link(file);
  lock_.emplace(lock_file(), "training",
                "wait for its end or stop it, or choose another folder (train.out)");
}

void RunFolder::write_config(std::string_view toml) const {
  write_file_atomically(config(), toml);
}

void RunFolder::abandon() {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator(path_, ignored))
    remove_tree(entry.path());
  lock_.reset();
  for (const fs::path& folder : made_) fs::remove(folder, ignored);  // only if it is empty
}

}  // namespace tessera::train
