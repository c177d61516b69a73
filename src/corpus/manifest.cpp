#include "corpus/manifest.h"

#include "base/require.h"
#include "files/file_name.h"
#include "files/files.h"
#include "files/hash.h"
#include "files/stored_languages.h"

#include <nlohmann/json.hpp>

namespace tessera::corpus {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

const DataKind kKind{.format = "tessera corpus",
                     .version = Manifest::kFormatVersion,
                     .name = "corpus",
                     .one = "a corpus",
                     .command = "tessera prepare",
                     .usage = "tessera prepare --out {} ...",
                     .covered = "files"};

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
  counts.read = count_in(json, "read");
  counts.kept = count_in(json, "kept");
  const Json& left_out = json.at("left_out");
  counts.empty = count_in(left_out, "empty");
  counts.too_long = count_in(left_out, "too_long");
  counts.uneven = count_in(left_out, "uneven");
  counts.source_tokens = count_in(json, "source_tokens");
  counts.target_tokens = count_in(json, "target_tokens");
  counts.source_unknown = count_in(json, "source_unknown");
  counts.target_unknown = count_in(json, "target_unknown");
  return counts;
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
  Manifest manifest;
  load_manifest(folder, kKind, manifest, [&](const Json& json) {
    manifest.symbols = count_in(json, "symbols");
    manifest.languages = stored_languages(json);
    for (const auto& [name, counts] : json.at("splits").items()) {
      require_file_name(name, "the name of a split");
      manifest.splits[name] = split_counts(counts);
    }
    return manifest.fingerprint();
  });
  return manifest;
}

std::string Manifest::json() const {
  Json counted = Json::object();
  for (const auto& [name, counts] : splits) counted[name] = to_json(counts);
  Json particular{{"symbols", symbols}};
  store_languages(particular, languages);
  particular["splits"] = counted;
  return manifest_text(kKind, *this, fingerprint(), particular);
}

void Manifest::save(const fs::path& folder) const {
  write_file_atomically(folder / kFileName, json());
}

void Manifest::check_files(const fs::path& folder, bool contents) const {
  check_data_files(folder, kKind, *this, contents);
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

}  // namespace tessera::corpus
