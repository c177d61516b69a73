#include "image/manifest.h"

#include "base/files.h"
#include "base/hash.h"
#include "base/require.h"

#include <nlohmann/json.hpp>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "tessera images";
constexpr const char* kAgain = "run `tessera prepare --images` again";

Manifest parse(const std::string& text, const fs::path& path) {
  const Json json = Json::parse(text);
  if (json.at("format") != kFormat)
    throw Error(fmt::format("'{}' is not the manifest of a data set of images", path.string()),
                "name a folder that `tessera prepare --images` made");
  const int64_t version = json.at("format_version").get<int64_t>();
  if (version > Manifest::kFormatVersion)
    throw Error(fmt::format("'{}' has format {}, which is newer than this program (it reads {})",
                            path.string(), version, Manifest::kFormatVersion),
                "use a newer tessera, or run `tessera prepare --images` again with this one");
  Manifest manifest;
  json.at("tessera").get_to(manifest.tessera_version);
  for (const auto& [key, value] : json.at("options").items())
    manifest.options[key] = value.get<std::string>();
  json.at("channels").get_to(manifest.channels);
  json.at("height").get_to(manifest.height);
  json.at("width").get_to(manifest.width);
  json.at("classes").get_to(manifest.classes);
  for (const auto& [name, counts] : json.at("splits").items())
    manifest.splits[name] = counts.at("images").get<int64_t>();
  for (const auto& [name, file] : json.at("files").items())
    manifest.files[name] = {file.at("bytes").get<uint64_t>(), file.at("hash").get<std::string>()};
  // Stored for readers other than us; a difference means that someone changed the file by hand.
  if (json.at("fingerprint") != manifest.fingerprint())
    throw Error(
        fmt::format("'{}' is damaged: its fingerprint does not fit its contents", path.string()),
        kAgain);
  return manifest;
}

}  // namespace

std::string Manifest::fingerprint() const {
  std::string all = fmt::format("{} {} {}\n", channels, height, width);
  for (const std::string& name : classes) all += name + '\n';
  for (const auto& [name, count] : splits) all += fmt::format("{} {}\n", name, count);
  for (const auto& [name, file] : files) all += name + ' ' + file.hash + '\n';
  return content_hash(all);
}

bool Manifest::is_in(const fs::path& folder) {
  try {
    return Json::parse(read_file(folder / kFileName)).at("format") == kFormat;
  } catch (const std::exception&) {
    return false;
  }
}

Manifest Manifest::load(const fs::path& folder) {
  const fs::path path = folder / kFileName;
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(
        fmt::format(
            "'{}' is not a data set of images: {}", folder.string(),
            fs::exists(folder, ignored) ? "it has no manifest.json" : "there is no such folder"),
        "make one with `tessera prepare --images FORMAT --from DIR --out " + folder.string() + "`");
  try {
    return parse(read_file(path), path);
  } catch (const Json::exception& failure) {
    throw Error(fmt::format("'{}' is damaged: {}", path.string(), failure.what()), kAgain);
  }
}

std::string Manifest::json() const {
  Json made = {{"format", kFormat},          {"format_version", kFormatVersion},
               {"tessera", tessera_version}, {"fingerprint", fingerprint()},
               {"options", Json::object()},  {"channels", channels},
               {"height", height},           {"width", width},
               {"classes", classes},         {"splits", Json::object()},
               {"files", Json::object()}};
  for (const auto& [key, value] : options) made["options"][key] = value;
  for (const auto& [name, count] : splits) made["splits"][name] = {{"images", count}};
  for (const auto& [name, file] : files)
    made["files"][name] = {{"bytes", file.bytes}, {"hash", file.hash}};
  // File names may hold any bytes; a manifest that cannot be written helps nobody.
  return made.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void Manifest::save(const fs::path& folder) const {
  write_file_atomically(folder / kFileName, json());
}

void Manifest::check_classes() const {
  for (const std::string& name : classes) {
    try {
      (void)Json(name).dump();
    } catch (const Json::exception&) {
      throw Error(fmt::format("the name of the class '{}' is not valid UTF-8", name),
                  "give its folder another name");
    }
  }
}

void Manifest::check_files(const fs::path& folder) const {
  for (const auto& [name, file] : files) {
    std::error_code failure;
    const uint64_t bytes = fs::file_size(folder / name, failure);
    if (failure)
      throw Error(fmt::format("the data set '{}' is incomplete: cannot read '{}': {}",
                              folder.string(), name, failure.message()),
                  kAgain);
    if (bytes != file.bytes)
      throw Error(fmt::format("the data set '{}' is damaged: '{}' has {} bytes, should have {}",
                              folder.string(), name, bytes, file.bytes),
                  kAgain);
  }
}

std::string split_file(const std::string& split) {
  return split + ".safetensors";
}

}  // namespace tessera::image
