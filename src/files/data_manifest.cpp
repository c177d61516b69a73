#include "files/data_manifest.h"

#include "base/log.h"
#include "base/require.h"
#include "files/file_name.h"
#include "files/files.h"
#include "files/hash.h"
#include "files/json_file.h"

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

constexpr uint64_t kManyBytes = uint64_t{2} << 30;  // so many take long to read

uint64_t bytes_of(const DataManifest& manifest) {
  uint64_t bytes = 0;
  for (const auto& [name, stamp] : manifest.files) bytes += stamp.bytes;
  return bytes;
}

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
  const auto damaged = [&](const std::string& what) {
    return Error(fmt::format("'{}' is damaged: {}", path.string(), what), kind.again());
  };
  try {
    check_kind(json, kind, path);
    json.at("tessera").get_to(common.tessera_version);
    for (const auto& [key, value] : json.at("options").items())
      common.options[key] = value.get<std::string>();
    std::string fingerprint;
    try {
      for (const auto& [name, stamp] : json.at("files").items()) {
        require_file_name(name, "the name of a file");
        common.files[name] = {static_cast<uint64_t>(count_in(stamp, "bytes")),
                              stamp.at("hash").get<std::string>()};
      }
      fingerprint = read(json);
    } catch (const Error& error) {
      throw damaged(error.what());
    }
    // Stored for other readers; a difference means that someone changed the file by hand.
    if (fingerprint != json.at("fingerprint").get<std::string>())
      throw damaged(fmt::format("its fingerprint does not fit its {}", kind.covered));
  } catch (const Json::exception& failure) {
    throw damaged(json_problem(failure));
  }
}

int64_t count_in(const Json& object, const char* key) {
  constexpr int64_t kMost = int64_t{1} << 48;
  const Json& number = object.at(key);
  const bool fits = number.is_number_unsigned() ? number.get<uint64_t>() <= uint64_t{kMost}
                                                : number.is_number_integer() && number == 0;
  require(fits, "'{}' is {}, not a whole number from 0 to {}", key, number.dump(), kMost);
  return number.get<int64_t>();
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
  // File names may hold any bytes, and the manifest must be written all the same.
  return made.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void check_data_files(const fs::path& folder, const DataKind& kind, const DataManifest& manifest,
                      bool contents) {
  if (const uint64_t all = bytes_of(manifest); contents && all >= kManyBytes)
    log::info("reading the {:.1f} GiB of '{}' to see whether they are unchanged",
              static_cast<double>(all) / (1 << 30), folder.string());
  for (const auto& [name, stamp] : manifest.files) {
    const fs::path path = folder / name;
    std::error_code failure;
    const uint64_t bytes = fs::file_size(path, failure);
    if (failure && failure != std::errc::no_such_file_or_directory)
      throw file_error("read", path, failure.value());
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
