#include "installed_files.h"

#include "base/log.h"

#include <algorithm>
#include <system_error>

namespace tessera::app {

namespace fs = std::filesystem;

fs::path find_recipe(const fs::path& name) {
  std::error_code ignored;
  const bool leads_out = std::find(name.begin(), name.end(), "..") != name.end();
  if (name.empty() || name.is_absolute() || leads_out || fs::exists(name, ignored)) return name;
  const fs::path program = fs::read_symlink("/proc/self/exe", ignored);
  if (program.empty()) return name;
  const fs::path share = (program.parent_path() / TESSERA_SHARE_FROM_BIN).lexically_normal();
  const fs::path recipes = share / "recipes";
  const bool is_below = *name.begin() == "recipes";
  for (const fs::path& file :
       {is_below ? share / name : recipes / name, recipes / (name.string() + ".toml")})
    if (fs::is_regular_file(file, ignored)) {
      log::info("recipe: {}", file.string());
      return file;
    }
  return name;
}

}  // namespace tessera::app
