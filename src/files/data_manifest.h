#pragma once

#include <nlohmann/json.hpp>

#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <set>
#include <string>

// What the manifest.json of all kinds of prepared data have in common, and the messages about them.
namespace tessera {

struct FileStamp {
  uint64_t bytes = 0;
  std::string hash;  // files/hash.h
  bool operator==(const FileStamp&) const = default;
};

struct DataManifest {
  static constexpr const char* kFileName = "manifest.json";

  std::string tessera_version;                 // of the program that wrote it
  std::map<std::string, std::string> options;  // in effect when it was made
  std::map<std::string, FileStamp> files;      // by name, without the manifest

  std::set<std::string> file_names() const;  // with the manifest's
};

// A kind of prepared data, in the words that messages use.
struct DataKind {
  std::string format;   // in manifest.json: "tessera corpus"
  int64_t version;      // a newer one is refused
  std::string name;     // "corpus"
  std::string one;      // "a corpus"
  std::string command;  // the command that makes it: "tessera prepare"
  std::string usage;    // the whole command, with {} for the folder
  std::string covered;  // what the fingerprint covers: "files"

  std::string again() const { return "run `" + command + "` again"; }
};

// Reads the manifest of a folder: fills `common`, and lets `read` take the rest; `read` returns the
// fingerprint of what was read. Throws Error, which says what to do, if the manifest is missing,
// damaged, of another kind or of a newer format.
void load_manifest(const std::filesystem::path& folder, const DataKind& kind, DataManifest& common,
                   const std::function<std::string(const nlohmann::ordered_json&)>& read);

// A member that counts something, at most 2^48. Throws Error for any other value.
int64_t count_in(const nlohmann::ordered_json& object, const char* key);

// The text of a manifest.
//   particular  what the kind adds, between options and files
std::string manifest_text(const DataKind& kind, const DataManifest& common,
                          const std::string& fingerprint, const nlohmann::ordered_json& particular);

// Throws Error for files of `folder` that are missing or whose size (or, slower, content) is not
// what the manifest says. Logs a line if this takes long.
void check_data_files(const std::filesystem::path& folder, const DataKind& kind,
                      const DataManifest& manifest, bool contents);

}  // namespace tessera
