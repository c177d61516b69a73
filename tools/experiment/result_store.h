#pragma once

#include <nlohmann/json.hpp>

#include <filesystem>
#include <optional>
#include <string>

namespace tessera::experiment {

// The folder experiments work in. Names carry a key of what made them, so that several experiments
// can share a folder, and with it their trainings:
//   runs/NAME                 training runs
//   data/NAME                 distilled corpora
//   results/NAME.json, .txt   the result of a finished job, and the sentences of an evaluation
//   logs/NAME.log, .out       what its process said on stderr and stdout
//   TABLE.md, .json, .html    the tables, by the names of their files
//   lock                      held while an experiment is running
class ResultStore {
 public:
  explicit ResultStore(std::filesystem::path folder) : folder_(std::move(folder)) {}

  void make_folders() const;

  const std::filesystem::path& folder() const { return folder_; }
  std::filesystem::path run(const std::string& name) const { return folder_ / "runs" / name; }
  std::filesystem::path corpus(const std::string& name) const { return folder_ / "data" / name; }
  std::filesystem::path result(const std::string& name) const;
  std::filesystem::path hypotheses(const std::string& name) const;
  std::filesystem::path log(const std::string& name) const;
  std::filesystem::path output(const std::string& name) const;

  // The result of a finished job, if there is one with this key.
  //   field  of the result that holds the key
  std::optional<nlohmann::ordered_json> find(const std::string& name, const std::string& key,
                                             const char* field = "key") const;

  // Writes the result atomically, with the key added.
  void put(const std::string& name, const std::string& key,
           const nlohmann::ordered_json& result) const;

 private:
  std::filesystem::path folder_;
};

}  // namespace tessera::experiment
