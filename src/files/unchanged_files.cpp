#include "files/unchanged_files.h"

#include "base/require.h"
#include "files/checkpoint_manifest.h"
#include "files/hash.h"

#include <string>
#include <string_view>

namespace tessera {
namespace {

namespace fs = std::filesystem;

// Not the weights, nor files that generation does not use: README.md may be edited.
bool says_how_to_read(std::string_view name) {
  return !name.ends_with(".safetensors") && name != "README.md" && name != "state.json";
}

constexpr const char* kAdvice =
    "put the file back as it was, or take another checkpoint (--checkpoint); if you changed it on "
    "purpose, copy the folder and remove manifest.json from the copy";

CheckpointManifest manifest_of(const fs::path& folder) {
  try {
    return CheckpointManifest::read(folder);
  } catch (const NewerFormat&) {
    throw;
  } catch (const Error& error) {
    throw Error(error.what(), kAdvice);
  }
}

}  // namespace

void require_unchanged_files(const fs::path& folder) {
  std::error_code ignored;
  if (!fs::exists(folder / CheckpointManifest::kFileName, ignored)) return;
  for (const auto& [name, file] : manifest_of(folder).files) {
    const fs::path listed = folder / name;
    if (!says_how_to_read(name) || !fs::is_regular_file(listed, ignored)) continue;
    if (file.hash != file_hash(listed))
      throw Error(fmt::format("'{}' has been changed since the checkpoint was written: the weights "
                              "may mean something else with it",
                              listed.string()),
                  kAdvice);
  }
}

}  // namespace tessera
