#pragma once

#include "files/files.h"

#include <filesystem>
#include <set>
#include <string>

namespace tessera {

// A path with a parent and a name, also for "m30k", "data/m30k/" or ".".
std::filesystem::path full_path(const std::filesystem::path& folder);

// A folder of data that a command makes. It appears under its name once commit() has completed it,
// and replaces an earlier one only if that was asked for, in one step; without commit() nothing is
// left behind. A link to a folder stays a link.
class OutputFolder {
 public:
  enum class Existing {
    refuse,   // Error if the folder exists
    replace,  // the old folder stays until the new one is complete; Error if it is of another kind,
              // or holds anything that is not part of it
  };

  // The kind of folder.
  struct Kind {
    const char* noun;                              // "a corpus"
    bool (*is_one)(const std::filesystem::path&);  // whether a folder that exists is of this kind
    // The names of the files that belong to it. Throws Error if it cannot tell.
    std::set<std::string> (*files)(const std::filesystem::path&);
  };

  // The first checks of the constructor, to run before long work. Cleans up what killed processes
  // left beside the folder.
  static void check(const std::filesystem::path& folder, const Kind& kind, Existing existing);

  OutputFolder(const std::filesystem::path& folder, const Kind& kind, Existing existing);

  const std::filesystem::path& path() const { return temporary_.path(); }  // to be filled
  void commit();

 private:
  std::filesystem::path folder_;  // with a parent and a name
  Kind kind_;
  Existing existing_;
  AtomicFolder temporary_;
};

}  // namespace tessera
