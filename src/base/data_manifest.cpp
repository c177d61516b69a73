#include "base/data_manifest.h"

#include "base/json_file.h"
#include "base/hash.h"
#include "base/require.h"

#include <fmt/format.h>

namespace tessera {

std::set<std::string> DataManifest::file_names() const {
  std::set<std::string> names{kFileName};
  for (const auto& [name, stamp] : files) names.insert(name);
  return names;
}
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

void check_kind(const Json& json, const DataKind& kind, const fs::path& path) {
  if (json.at("format") != kind.format)
    throw Error(fmt::format("'{}' is not the manifest of {}", path.string(), kind.one),
                fmt::format("name a folder that `{}` made", kind.command));
  const int64_t version = json.at("format_version").get<int64_t>();
  if (version > kind.version)
    throw Error(fmt::format("'{}' has format {}, which is newer than this program (it reads {})",
                            path.string(), version, kind.version),
                fmt::format("use a newer tessera, or run `{}` again with this one", kind.command));
}

}  // namespace

void load_manifest(const fs::path& folder, const DataKind& kind, DataManifest& common,
                   const std::function<std::string(const Json&)>& read) {
  const fs::path path = folder / DataManifest::kFileName;
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(
        fmt::format(
            "'{}' is not {}: {}", folder.string(), kind.one,
            fs::exists(folder, ignored) ? "it has no manifest.json" : "there is no such folder"),
        fmt::format("make one with `{}`", fmt::format(fmt::runtime(kind.usage), folder.string())));
  const Json json = read_json(path, kind.again());
  try {
    check_kind(json, kind, path);
    json.at("tessera").get_to(common.tessera_version);
    for (const auto& [key, value] : json.at("options").items())
      common.options[key] = value.get<std::string>();
    for (const auto& [name, stamp] : json.at("files").items())
      common.files[name] = {stamp.at("bytes").get<uint64_t>(), stamp.at("hash").get<std::string>()};
    // Stored for readers other than us; a difference means that someone changed the file by hand.
    if (read(json) != json.at("fingerprint").get<std::string>())
      throw Error(fmt::format("'{}' is damaged: its fingerprint does not fit its {}", path.string(),
                              kind.covered),
                  kind.again());
  } catch (const Json::exception& failure) {
    throw Error(fmt::format("'{}' is damaged: {}", path.string(), json_problem(failure)), kind.again());
  }
}

std::string manifest_text(const DataKind& kind, const DataManifest& common,
                          const std::string& fingerprint, const Json& particular) {
  Json made = {{"format", kind.format},
               {"format_version", kind.version},
               {"tessera", common.tessera_version},
               {"fingerprint", fingerprint},
               {"options", Json::object()}};
  for (const auto& [key, value] : common.options) made["options"][key] = value;
  made.update(particular);
  made["files"] = Json::object();
  for (const auto& [name, stamp] : common.files)
    made["files"][name] = {{"bytes", stamp.bytes}, {"hash", stamp.hash}};
  // File names may hold any bytes; a manifest that cannot be written helps nobody.
  return made.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void check_data_files(const fs::path& folder, const DataKind& kind, const DataManifest& manifest,
                      bool contents) {
  for (const auto& [name, stamp] : manifest.files) {
    const fs::path path = folder / name;
    std::error_code failure;
    const uint64_t bytes = fs::file_size(path, failure);
    if (failure)
      throw Error(fmt::format("the {} '{}' is incomplete: cannot read '{}': {}", kind.name,
                              folder.string(), name, failure.message()),
                  kind.again());
    if (bytes != stamp.bytes)
      throw Error(fmt::format("the {} '{}' is damaged: '{}' has {} bytes, should have {}",
                              kind.name, folder.string(), name, bytes, stamp.bytes),
                  kind.again());
    if (contents && file_hash(path) != stamp.hash)
      throw Error(fmt::format("the {} '{}' is damaged: the content of '{}' has changed", kind.name,
                              folder.string(), name),
                  kind.again());
  }
}

}  // namespace tessera
