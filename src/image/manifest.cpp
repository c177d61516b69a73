#include "image/manifest.h"

#include "base/require.h"
#include "files/file_name.h"
#include "files/files.h"
#include "files/hash.h"
#include "files/json_file.h"

#include <nlohmann/json.hpp>

namespace tessera::image {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const DataKind kKind{.format = "tessera images",
                     .version = Manifest::kFormatVersion,
                     .name = "data set",
                     .one = "a data set of images",
                     .command = "tessera prepare --images",
                     .usage = "tessera prepare --images FORMAT --from DIR --out {}",
                     .covered = "contents"};

}  // namespace

std::string Manifest::fingerprint() const {
  std::string all = fmt::format("{} {} {}\n", channels, height, width);
  if (codes) all += fmt::format("codes {} {}\n", codes->symbols, codes->images);
  for (const std::string& name : classes) all += name + '\n';
  for (const auto& [name, count] : splits) all += fmt::format("{} {}\n", name, count);
  for (const auto& [name, file] : files) all += name + ' ' + file.hash + '\n';
  return content_hash(all);
}

bool Manifest::is_in(const fs::path& folder) {
  try {
    return read_json(folder / kFileName).at("format") == kKind.format;
  } catch (const std::exception&) {
    return false;
  }
}

Manifest Manifest::load(const fs::path& folder) {
  Manifest manifest;
  load_manifest(folder, kKind, manifest, [&](const Json& json) {
    manifest.channels = count_in(json, "channels");
    manifest.height = count_in(json, "height");
    manifest.width = count_in(json, "width");
    json.at("classes").get_to(manifest.classes);
    if (json.contains("codes")) {
      const Json& codes = json.at("codes");
      manifest.codes = {count_in(codes, "symbols"), codes.at("images").get<std::string>()};
    }
    for (const auto& [name, counts] : json.at("splits").items()) {
      require_file_name(name, "the name of a split");
      manifest.splits[name] = count_in(counts, "images");
    }
    return manifest.fingerprint();
  });
  return manifest;
}

std::string Manifest::json() const {
  Json sizes = Json::object();
  for (const auto& [name, count] : splits) sizes[name] = {{"images", count}};
  Json particular{{"channels", channels},
                  {"height", height},
                  {"width", width},
                  {"classes", classes},
                  {"splits", sizes}};
  DataKind kind = kKind;
  kind.version = codes ? kFormatVersion : 1;
  if (codes) particular["codes"] = {{"symbols", codes->symbols}, {"images", codes->images}};
  return manifest_text(kind, *this, fingerprint(), particular);
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

void Manifest::check_files(const fs::path& folder, bool contents) const {
  check_data_files(folder, kKind, *this, contents);
}

std::string split_file(const std::string& split) {
  return split + ".safetensors";
}

}  // namespace tessera::image
