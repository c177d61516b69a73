#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tessera::text {

// Two symbols to be joined. A symbol at the end of a word ends in "</w>".
using Merge = std::pair<std::string, std::string>;

// The merges of a codes file; the ones to apply first come first.
struct BpeCodes {
  int version = 2;  // of the format 0.VERSION; in version 1 "</w>" is a symbol of its own
  std::vector<Merge> merges;

  // Reads subword-nmt's files; without "#version:" it is 0.1. Throws Error, with file and line.
  static BpeCodes load(const std::filesystem::path& path);
  static BpeCodes parse(std::string_view text, const std::string& name);
  std::string text() const;  // as the text of a file
};

struct BpeOptions {
  int64_t merges = -1;           // how many of the merges to use; -1: all
  std::string separator = "@@";  // after every piece that does not end its word
  // If not empty: pieces (with their separators) that are not in it are split again, as far as
  // possible.
  std::unordered_set<std::string> vocabulary = {};
};

// Symbols of a vocabulary file (lines "symbol count") with at least that count.
std::unordered_set<std::string> load_bpe_vocabulary(const std::filesystem::path& path,
                                                    int64_t threshold = 0);

// Splits words into pieces as subword-nmt 0.3.8 does ("kleiner" -> "kle@@ iner"). Immutable,
// thread-safe and cheap to copy.
class Bpe {
 public:
  explicit Bpe(BpeCodes codes, BpeOptions options = {});

  // The pieces of a word (no blanks in it), without separators; they point into the word.
  void split(std::string_view word, std::vector<std::string_view>& pieces) const;

  // A line with its words split. Words are separated by spaces. Spaces at the ends stay; several
  // spaces between words become one.
  void apply(std::string_view line, std::string& out) const;  // appends
  std::string apply(std::string_view line) const;

  const BpeCodes& codes() const;
  const BpeOptions& options() const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

}  // namespace tessera::text
