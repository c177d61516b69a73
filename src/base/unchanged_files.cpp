#include "base/unchanged_files.h"

#include "base/files.h"
#include "base/hash.h"
#include "base/require.h"

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>

namespace tessera {
namespace {

namespace fs = std::filesystem;

// Weights, and what generation has no use for: prose may be edited.
bool says_how_to_read(std::string_view name) {
  return !name.ends_with(".safetensors") && name != "README.md" && name != "state.json";
}

constexpr const char* kAdvice =
    "put the file back as it was, or take another checkpoint (--checkpoint); if you changed it on "
    "purpose, copy the folder and remove manifest.json from the copy";

}  // namespace

void require_unchanged_files(const fs::path& folder) {
  const fs::path path = folder / "manifest.json";
  std::error_code ignored;
  if (!fs::exists(path, ignored)) return;
  const auto manifest = nlohmann::json::parse(read_file(path), nullptr, /*allow_exceptions=*/false);
  if (!manifest.is_object() || !manifest.contains("files") || !manifest["files"].is_object())
    throw Error(
        fmt::format("'{}' is broken: it does not list the files of a checkpoint", path.string()),
        kAdvice);
  for (const auto& [name, file] : manifest["files"].items()) {
    const fs::path listed = folder / name;
    if (!says_how_to_read(name) || !fs::is_regular_file(listed, ignored)) continue;
    if (!file.is_object() || !file.contains("hash") || file["hash"] != file_hash(listed))
      throw Error(fmt::format("'{}' has been changed since the checkpoint was written: the weights "
                              "may mean something else with it",
                              listed.string()),
                  kAdvice);
  }
}

}  // namespace tessera
