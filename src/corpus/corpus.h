#pragma once

#include "corpus/manifest.h"
#include "corpus/split.h"
#include "text/tokenizer.h"

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace tessera::corpus {

// A folder that `tessera prepare` wrote: manifest.json, the tokenizer's files, and for every split
// its ids (int32), where sentences begin among them (int64), and its lines (not for the training
// split).
class Corpus {
 public:
  // Throws Error for a folder that is not a corpus, is incomplete, damaged, or of a newer format.
  // The sizes of all files are always checked; their contents, which must be read for that, on
  // demand.
  static Corpus open(const std::filesystem::path& folder, bool verify_contents = false);

  const std::filesystem::path& folder() const { return folder_; }
  const Manifest& manifest() const { return manifest_; }
  const text::Tokenizer& tokenizer() const { return tokenizer_; }
  bool has(const std::string& split) const { return splits_.contains(split); }
  const Split& split(const std::string& name) const;  // Error, which lists the existing ones

  // Hash of everything that a training run depends on (ids, dictionary).
  const std::string& fingerprint() const { return fingerprint_; }

  // Symbols that no target of the training split uses (including specials other than </s>): nothing
  // should decode to them. Ascending.
  const std::vector<int64_t>& unused_in_targets() const { return unused_in_targets_; }

 private:
  Corpus(std::filesystem::path folder, Manifest manifest, text::Tokenizer tokenizer);

  std::filesystem::path folder_;
  Manifest manifest_;
  text::Tokenizer tokenizer_;
  std::map<std::string, Split> splits_;
  std::string fingerprint_;
  std::vector<int64_t> unused_in_targets_;
};

}  // namespace tessera::corpus
