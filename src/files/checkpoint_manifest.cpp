#include "files/checkpoint_manifest.h"

#include "base/require.h"
#include "files/file_name.h"
#include "files/files.h"
#include "files/hash.h"
#include "files/json_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>

namespace tessera {
namespace fs = std::filesystem;
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kManifestFormat = 1;

// A manifest must not make us look at files outside of its folder.
bool stays_inside(const std::string& name) {
  const fs::path path(name);
  return !name.empty() && std::all_of(path.begin(), path.end(), [](const fs::path& part) {
    return is_plain_file_name(part.string());
  });
}

CheckpointManifest parse(const Json& document, const fs::path& path) {
  try {
    const int64_t format = document.at("format").get<int64_t>();
    if (format > kManifestFormat)
      throw NewerFormat(
          fmt::format("'{}' has format {}, this version of tessera reads up to format {}",
                      path.string(), format, kManifestFormat),
          "it was written by a newer tessera: use that one");
    CheckpointManifest manifest;
    manifest.step = document.at("step").get<int64_t>();
    if (document.contains("score")) manifest.score = document["score"].get<double>();
    for (const auto& [name, file] : document.at("files").items()) {
      require(stays_inside(name), "'{}' lists '{}', which is not in its folder", path.string(),
              name);
      manifest.files[name] = {file.at("size").get<uint64_t>(), file.at("hash").get<std::string>()};
    }
    return manifest;
  } catch (const Json::exception& error) {
    throw Error(fmt::format("'{}' is broken: {}", path.string(), json_problem(error)));
  }
}

std::optional<std::string> damage_of(const fs::path& path, const std::string& name,
                                     const CheckpointManifest::File& expected) {
  if (!is_there(path) || !fs::is_regular_file(path)) return fmt::format("'{}' is missing", name);
  const uint64_t size = fs::file_size(path);
  if (size != expected.size)
    return fmt::format("'{}' has {} bytes instead of {}", name, size, expected.size);
  if (file_hash(path) != expected.hash) return fmt::format("'{}' has changed", name);
  return std::nullopt;
}

}  // namespace

CheckpointManifest CheckpointManifest::of_folder(const fs::path& folder, int64_t step,
                                                 std::optional<double> score) {
  CheckpointManifest manifest{step, score, {}};
  try {
    for (const fs::directory_entry& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.is_directory() && !entry.is_symlink()) continue;
      const std::string name = entry.path().lexically_relative(folder).generic_string();
      require(
          entry.is_regular_file() && !entry.is_symlink() && name != CheckpointManifest::kFileName,
          "'{}' cannot be part of a checkpoint", entry.path().string());
      manifest.files[name] = {entry.file_size(), file_hash(entry.path())};
    }
  } catch (const fs::filesystem_error& error) {
    throw file_error("read", error.path1(), error.code().value());
  }
  return manifest;
}

CheckpointManifest CheckpointManifest::read(const fs::path& folder) {
  return parse(read_json(folder / CheckpointManifest::kFileName),
               folder / CheckpointManifest::kFileName);
}

void CheckpointManifest::write(const fs::path& folder) const {
  Json document = {{"format", kManifestFormat}, {"step", step}};
  if (score) document["score"] = *score;
  document["files"] = Json::object();
  for (const auto& [name, file] : files)
    document["files"][name] = {{"size", file.size}, {"hash", file.hash}};
  write_file_atomically(folder / CheckpointManifest::kFileName, document.dump(2) + "\n");
}

uint64_t CheckpointManifest::total_size() const {
  uint64_t size = 0;
  for (const auto& [name, file] : files) size += file.size;
  return size;
}

std::optional<std::string> CheckpointManifest::damage(const fs::path& folder) const {
  try {
    for (const auto& [name, file] : files)
      if (auto found = damage_of(folder / name, name, file)) return found;
  } catch (const fs::filesystem_error& error) {
    throw file_error("read", error.path1(), error.code().value());
  }
  return std::nullopt;
}

}  // namespace tessera
