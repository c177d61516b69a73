#pragma once

#include "files/data_manifest.h"

#include <tessera/base/languages.h>

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>

namespace tessera::corpus {

// What became of the lines of a split, and how many tokens (end symbols included) they have.
struct SplitCounts {
  int64_t read = 0, kept = 0;                      // pairs of lines
  int64_t empty = 0, too_long = 0, uneven = 0;     // left out, by reason
  int64_t source_tokens = 0, target_tokens = 0;    // of the pairs kept
  int64_t source_unknown = 0, target_unknown = 0;  // of these, not in the dictionary
  bool operator==(const SplitCounts&) const = default;
};

// What a corpus folder holds, as described by its manifest.json.
struct Manifest : DataManifest {
  static constexpr int64_t kFormatVersion = 1;  // a newer one is refused

  int64_t symbols = 0;       // of the dictionary, specials included
  Languages languages = {};  // of its sides; older corpora do not say
  std::map<std::string, SplitCounts> splits;

  // Hash of all a training run depends on: the tokenizer's files, splits train and valid.
  std::string fingerprint() const;

  // Throws Error, which says what to do, if the manifest is damaged or missing.
  static Manifest load(const std::filesystem::path& folder);
  void save(const std::filesystem::path& folder) const;
  std::string json() const;  // what save() writes

  // Throws Error for files of `folder` that are missing or whose size (or, slower, content) is not
  // what the manifest says.
  void check_files(const std::filesystem::path& folder, bool contents) const;
};

// Names of a split's files; `side` is "src" or "tgt".
std::string ids_file(const std::string& split, const std::string& side);
std::string offsets_file(const std::string& split, const std::string& side);
std::string lines_file(const std::string& split, const std::string& side);
// For the training split: how often every symbol occurs in its targets, int64 [symbols].
inline constexpr const char* kTargetCountsFile = "train.tgt.counts";

}  // namespace tessera::corpus
