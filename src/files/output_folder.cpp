#include "files/output_folder.h"

#include <fmt/format.h>

#include <string>
#include <system_error>

namespace tessera {
namespace fs = std::filesystem;
namespace {

// Where the folder really is: a link that the user named stays a link.
fs::path place_of(const fs::path& folder) {
  const fs::path place = full_path(folder);
  std::error_code failure;
  if (!fs::is_symlink(place, failure)) return place;
  const fs::path target = fs::canonical(place, failure);
  if (!failure) return target;
  return full_path(place.parent_path() / fs::read_symlink(place, failure));  // no target yet
}

bool is_full(const fs::path& folder) {
  std::error_code ignored;
  return is_there(folder) && !(fs::is_directory(folder, ignored) && fs::is_empty(folder, ignored));
}

}  // namespace

fs::path full_path(const fs::path& folder) {
  const fs::path normal = fs::absolute(folder).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

void OutputFolder::check(const fs::path& folder, const Kind& kind, Existing existing) {
  // A process that was killed while it replaced the folder may have left the old one aside.
  if (const fs::path parent = place_of(folder).parent_path(); is_there(parent))
    remove_leftovers(parent);
  if (!is_full(folder)) return;
  if (!kind.is_one(folder))
    throw Error(fmt::format("'{}' exists and is not {}", folder.string(), kind.noun),
                "choose another folder to write to");
  if (existing == Existing::refuse)
    throw Error(fmt::format("'{}' exists: there is {} in it", folder.string(), kind.noun),
                "choose another folder, or replace it (`tessera prepare --force`)");
  const std::set<std::string> own = kind.files(folder);
  for (const auto& entry : fs::directory_iterator(folder))
    if (const std::string name = entry.path().filename().string(); !own.contains(name))
      throw Error(fmt::format("'{}' holds '{}', which is not part of {}: it would be lost",
                              folder.string(), name, kind.noun),
                  "move it away, or choose another folder to write to");
}

OutputFolder::OutputFolder(const fs::path& folder, const Kind& kind, Existing existing)
    : folder_((check(folder, kind, existing), place_of(folder))),
      kind_(kind),
      existing_(existing),
      temporary_(folder_.parent_path()) {}

void OutputFolder::commit() {
  check(folder_, kind_, existing_);
  const std::string name = folder_.filename();
  is_full(folder_) ? temporary_.replace(name) : temporary_.commit(name);
}

}  // namespace tessera
