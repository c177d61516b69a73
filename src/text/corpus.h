#pragma once

#include "base/files.h"
#include "text/tokenizer.h"

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

namespace tessera::text {

// One part of a corpus (train, valid, test): pairs of sentences as ids, in memory-mapped files.
class Split {
 public:
  int64_t size() const;
  // Ids of a sentence, the end symbol included.
  std::span<const Id> source(int64_t index) const;
  std::span<const Id> target(int64_t index) const;

  // The lines as the user gave them (before any filter of ours they would not be here), for
  // validation and scoring.
  std::vector<std::string> source_lines() const;
  std::vector<std::string> target_lines() const;
};

// A folder that `tessera prepare` wrote: manifest.json, the tokenizer's files, and for every split
// its ids, offsets and lines.
class Corpus {
 public:
  // Throws Error for a folder that is not one, is incomplete, damaged, or of a newer format.
  static Corpus open(const std::filesystem::path& folder);

  const Tokenizer& tokenizer() const;
  bool has(const std::string& split) const;
  const Split& split(const std::string& name) const;  // Error that lists the ones there are

  // Hash of everything that a training run depends on (ids, dictionary).
  const std::string& fingerprint() const;

  // Symbols no target of the training split uses (specials other than </s> among them): nothing
  // should decode to them. Ascending.
  const std::vector<int64_t>& unused_in_targets() const;
};

}  // namespace tessera::text
