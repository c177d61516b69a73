#pragma once

#include "files/files.h"

#include <filesystem>
#include <set>
#include <string>

namespace tessera {

// With a parent and a name, whether it was given as "m30k", "data/m30k/" or ".".
std::filesystem::path full_path(const std::filesystem::path& folder);

// A folder of data that a command makes. It appears under its name when commit() has made it
// complete, and takes the place of an earlier one only where that was asked for, in one step;
// without commit() nothing is left behind. A link to a folder stays one.
class OutputFolder {
 public:
  enum class Existing {
    refuse,   // Error where the folder exists
    replace,  // what is there stays until the new one is complete; Error where the folder is of
              // another kind, or holds anything that is not part of it
  };

  // What such a folder is.
  struct Kind {
    const char* noun;                              // "a corpus"
    bool (*is_one)(const std::filesystem::path&);  // whether a folder that exists is of this kind
    // The names of the files it is made of. Throws Error where it cannot say.
    std::set<std::string> (*files)(const std::filesystem::path&);
  };

  // What the constructor checks first, to be known before long work. Mends what killed processes
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
