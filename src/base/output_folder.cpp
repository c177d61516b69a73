#include "base/output_folder.h"

#include <fmt/format.h>

#include <string>
#include <system_error>

namespace tessera {
namespace fs = std::filesystem;

fs::path full_path(const fs::path& folder) {
  const fs::path normal = fs::absolute(folder).lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

void OutputFolder::check(const fs::path& folder, const Kind& kind, Existing existing) {
  std::error_code ignored;
  const fs::file_status status = fs::status(folder, ignored);
  if (!fs::exists(status) || (fs::is_directory(status) && fs::is_empty(folder, ignored))) return;
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
    : folder_(full_path(folder)),
      kind_(kind),
      existing_(existing),
      temporary_((check(folder, kind_, existing), folder_.parent_path())) {
  remove_leftovers(folder_.parent_path());  // of killed processes
}

void OutputFolder::commit() {
  check(folder_, kind_, existing_);
  const std::string name = folder_.filename();
  std::error_code failure;
  if (!fs::exists(folder_, failure) || fs::is_empty(folder_, failure)) {
    temporary_.commit(name);
    return;
  }
  // The old folder steps aside into one that goes away with this scope.
  const AtomicFolder aside(folder_.parent_path());
  fs::rename(folder_, aside.path() / name, failure);
  if (failure) throw file_error("replace", folder_, failure.value());
  try {
    temporary_.commit(name);
  } catch (...) {
    fs::rename(aside.path() / name, folder_, failure);
    throw;
  }
}

}  // namespace tessera
