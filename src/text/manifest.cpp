#include "text/manifest.h"

#include "base/files.h"
#include "base/hash.h"
#include "base/require.h"

#include <nlohmann/json.hpp>

namespace tessera::text {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

constexpr const char* kFormat = "tessera corpus";
constexpr const char* kAgain = "run `tessera prepare` again";

Json to_json(const SplitCounts& counts) {
  return {{"read", counts.read},
          {"kept", counts.kept},
          {"left_out",
           {{"empty", counts.empty}, {"too_long", counts.too_long}, {"uneven", counts.uneven}}},
          {"source_tokens", counts.source_tokens},
          {"target_tokens", counts.target_tokens},
          {"source_unknown", counts.source_unknown},
          {"target_unknown", counts.target_unknown}};
}

SplitCounts split_counts(const Json& json) {
  SplitCounts counts;
  json.at("read").get_to(counts.read);
  json.at("kept").get_to(counts.kept);
  const Json& left_out = json.at("left_out");
  left_out.at("empty").get_to(counts.empty);
  left_out.at("too_long").get_to(counts.too_long);
  left_out.at("uneven").get_to(counts.uneven);
  json.at("source_tokens").get_to(counts.source_tokens);
  json.at("target_tokens").get_to(counts.target_tokens);
  json.at("source_unknown").get_to(counts.source_unknown);
  json.at("target_unknown").get_to(counts.target_unknown);
  return counts;
}

Manifest parse(const std::string& text, const fs::path& path) {
  const Json json = Json::parse(text);
  if (json.at("format") != kFormat)
    throw Error(fmt::format("'{}' is not the manifest of a corpus", path.string()),
                "name a folder that `tessera prepare` made");
  const int64_t version = json.at("format_version").get<int64_t>();
  if (version > Manifest::kFormatVersion)
    throw Error(fmt::format("'{}' has format {}, which is newer than this program (it reads {})",
                            path.string(), version, Manifest::kFormatVersion),
                "use a newer tessera, or run `tessera prepare` again with this one");
  Manifest manifest;
  json.at("tessera").get_to(manifest.tessera_version);
  for (const auto& [key, value] : json.at("options").items())
    manifest.options[key] = value.get<std::string>();
  json.at("symbols").get_to(manifest.symbols);
  for (const auto& [name, counts] : json.at("splits").items())
    manifest.splits[name] = split_counts(counts);
  for (const auto& [name, stamp] : json.at("files").items())
    manifest.files[name] = {stamp.at("bytes").get<uint64_t>(), stamp.at("hash").get<std::string>()};
  // Stored for readers other than us; a difference means that someone changed the file by hand.
  if (json.at("fingerprint") != manifest.fingerprint())
    throw Error(
        fmt::format("'{}' is damaged: its fingerprint does not fit its files", path.string()),
        kAgain);
  return manifest;
}

bool matters_for_training(const std::string& file) {
  const auto belongs_to = [&](std::string_view split) {
    return file.starts_with(std::string(split) + ".src.") ||
           file.starts_with(std::string(split) + ".tgt.");
  };
  const bool of_a_split =
      file.find(".src.") != std::string::npos || file.find(".tgt.") != std::string::npos;
  return !of_a_split || belongs_to("train") || belongs_to("valid");
}

}  // namespace

std::string Manifest::fingerprint() const {
  std::string all;
  for (const auto& [name, stamp] : files)
    if (matters_for_training(name)) all += name + ' ' + stamp.hash + '\n';
  return content_hash(all);
}

Manifest Manifest::load(const fs::path& folder) {
  const fs::path path = folder / kFileName;
  std::error_code ignored;
  if (!fs::exists(path, ignored))
    throw Error(fmt::format("'{}' is not a corpus: {}", folder.string(),
                            fs::exists(folder, ignored) ? "it has no manifest.json"
                                                        : "there is no such folder"),
                "make one with `tessera prepare --out " + folder.string() + " ...`");
  try {
    return parse(read_file(path), path);
  } catch (const Json::exception& failure) {
    throw Error(fmt::format("'{}' is damaged: {}", path.string(), failure.what()), kAgain);
  }
}

std::string Manifest::json() const {
  Json made = {{"format", kFormat},          {"format_version", kFormatVersion},
               {"tessera", tessera_version}, {"fingerprint", fingerprint()},
               {"options", Json::object()},  {"symbols", symbols},
               {"splits", Json::object()},   {"files", Json::object()}};
  for (const auto& [key, value] : options) made["options"][key] = value;
  for (const auto& [name, counts] : splits) made["splits"][name] = to_json(counts);
  for (const auto& [name, stamp] : files)
    made["files"][name] = {{"bytes", stamp.bytes}, {"hash", stamp.hash}};
  // File names may hold any bytes; a manifest that cannot be written helps nobody.
  return made.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

void Manifest::save(const fs::path& folder) const {
  write_file_atomically(folder / kFileName, json());
}

void Manifest::check_files(const fs::path& folder, bool contents) const {
  for (const auto& [name, stamp] : files) {
    const fs::path path = folder / name;
    std::error_code failure;
    const uint64_t bytes = fs::file_size(path, failure);
    if (failure)
      throw Error(fmt::format("the corpus '{}' is incomplete: cannot read '{}': {}",
                              folder.string(), name, failure.message()),
                  kAgain);
    if (bytes != stamp.bytes)
      throw Error(fmt::format("the corpus '{}' is damaged: '{}' has {} bytes, should have {}",
                              folder.string(), name, bytes, stamp.bytes),
                  kAgain);
    if (contents && file_hash(path) != stamp.hash)
      throw Error(fmt::format("the corpus '{}' is damaged: the content of '{}' has changed",
                              folder.string(), name),
                  kAgain);
  }
}

std::string ids_file(const std::string& split, const std::string& side) {
  return split + "." + side + ".ids";
}

std::string offsets_file(const std::string& split, const std::string& side) {
  return split + "." + side + ".offsets";
}

std::string lines_file(const std::string& split, const std::string& side) {
  return split + "." + side + ".txt";
}

}  // namespace tessera::text
