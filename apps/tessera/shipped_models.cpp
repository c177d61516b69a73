#include "shipped_models.h"

#include "base/log.h"
#include "files/model_files.h"

#include <tessera/base/error.h>

#include <fmt/format.h>

#include <algorithm>
#include <system_error>

namespace tessera::app {
namespace {

namespace fs = std::filesystem;

// The folder that holds them; it need not exist.
fs::path folder_of_models() {
  std::error_code failure;
  const fs::path program = fs::read_symlink("/proc/self/exe", failure);
  if (failure) return {};
  const fs::path bin = program.parent_path(), build = bin.parent_path();
  const bool built_here = fs::exists(build / "CMakeCache.txt", failure);
  return (built_here ? build.parent_path() / "models" : bin / TESSERA_MODELS_FROM_BIN)
      .lexically_normal();
}

}  // namespace

std::vector<fs::path> shipped_models() {
  std::vector<fs::path> found;
  std::error_code failure;
  for (fs::directory_iterator entry(folder_of_models(), failure), end; !failure && entry != end;
       entry.increment(failure))
    if (is_model_folder(entry->path())) found.push_back(entry->path());
  std::sort(found.begin(), found.end());
  return found;
}

fs::path shipped_model(const char* name, const char* does) {
  const fs::path folder = folder_of_models() / name;
  if (!is_model_folder(folder))
    throw UsageError(
        fmt::format("no model was named, and this program came without '{}'", name),
        fmt::format("name a run or a model; a model in '{}' is taken without being named",
                    folder.string()));
  log::info("no model was named: '{}' {}, which came with the program ({})", name, does,
            folder.string());
  return folder;
}

}  // namespace tessera::app
