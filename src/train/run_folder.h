#pragma once

#include <filesystem>
#include <string>
#include <string_view>

namespace tessera::train {

// A folder that holds a training run, and the names in it:
//   config.toml     the configuration in effect; a folder with one is a run folder
//   metrics.jsonl   what was measured (MetricsLog)
//   checkpoints/    last, best  (Checkpoints)
//   lock            held while a process trains
class RunFolder {
 public:
  // A new run: makes the folder (it may exist), locks it. Throws Error where it holds a run
  // already. It is a run folder once write_config() was called.
  static RunFolder create(const std::filesystem::path& path);

  // A run there is, for reading. Throws Error where there is none.
  static RunFolder open(const std::filesystem::path& path);

  // Whether the folder holds a run.
  static bool is_one(const std::filesystem::path& path);

  ~RunFolder();
  RunFolder(RunFolder&& other) noexcept;
  RunFolder& operator=(RunFolder&& other) noexcept;

  // Makes this process the only one that trains in the folder, until the object's end; a process
  // that dies gives its lock back. Throws Error where another one holds it. Twice is once.
  void lock();

  void write_config(std::string_view toml) const;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path config() const { return path_ / "config.toml"; }
  std::filesystem::path metrics() const { return path_ / "metrics.jsonl"; }
  std::filesystem::path lock_file() const { return path_ / "lock"; }

 private:
  explicit RunFolder(std::filesystem::path path) : path_(std::move(path)) {}

  std::filesystem::path path_;
  int lock_ = -1;  // descriptor of the lock file, where this process holds it
};

// Whether a folder holds a model: config.json and model.safetensors.
bool is_model_folder(const std::filesystem::path& path);

// The folder to load a model from.
//   run_or_model  a run folder or a model folder
//   checkpoint    of a run: "best", "last" or a step; empty: best where there are scores, else last
// Throws Error where there is nothing to load, UsageError for a checkpoint of a model folder.
std::filesystem::path model_folder(const std::filesystem::path& run_or_model,
                                   const std::string& checkpoint = "");

}  // namespace tessera::train
