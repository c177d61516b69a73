#pragma once

#include "config/option.h"

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::config {

// Reads the files of a configuration. Beside options a file may have, before all tables:
//   include = "other.toml"  reads that file first, or several: ["a.toml", "b.toml"]. The names
//                           are relative to the file, which need only say what is different.
//   old_name = true         a warning says to name what it includes instead
// and as tables:
//   [needs]                 values that other files must have given. It makes the file a method,
//                           which comes after another file.
//   [method.NAME]           values that count once a file NAME.toml has been read after this one
class RecipeReader {
 public:
  // All three outlive it.
  //   values    receives what the files say, in the order in which it counts
  //   problems  receives what is wrong with them, a file that cannot be read included
  RecipeReader(const Options& options, std::vector<Assignment>& values,
               std::vector<std::string>& problems)
      : options_(options), values_(values), problems_(problems) {}

  // A file that is read twice is a problem.
  void read_file(const std::filesystem::path& path) { read_file(path, ""); }
  void read_text(std::string_view toml, const std::string& source_name);

  // Values that a file needs, which others give.
  struct Need {
    Assignment wanted;
    std::string file;
  };
  const std::vector<Need>& needs() const { return needs_; }

  // What does not belong here: a table of results, a method without data. Other problems follow.
  const std::vector<std::string>& misplaced() const { return misplaced_; }
  // What a person should know about the files, a sentence each.
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  struct File {
    std::filesystem::path path;
    bool to_its_end;
  };
  struct Document;  // knows TOML

  void read_file(const std::filesystem::path& path, const std::string& where);

  const Options& options_;
  std::vector<Assignment>& values_;
  std::vector<std::string>& problems_;
  std::map<std::string, std::vector<Assignment>> of_methods_;  // sections [method.NAME], by name
  std::vector<Need> needs_;
  std::vector<File> files_;
  bool anything_read_ = false;  // a file or a text, to its end
  std::vector<std::string> misplaced_, warnings_;
};

}  // namespace tessera::config
