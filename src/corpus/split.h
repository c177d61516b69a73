#pragma once

#include "text/dictionary.h"

#include <filesystem>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tessera::corpus {

// Sentences one after the other: sentence k is ids[offsets[k]] up to ids[offsets[k + 1]].
struct Sentences {
  std::span<const text::Id> ids;
  std::span<const int64_t> offsets;                        // [sentences + 1], ascending from 0
  std::shared_ptr<const void> storage;                     // keeps the memory of the spans alive
  int64_t symbols = std::numeric_limits<text::Id>::max();  // of the dictionary; ids are below it
  std::string file = {};                                   // file of the ids, for messages

  static Sentences copy_of(const std::vector<std::vector<text::Id>>& sentences);
  int64_t size() const { return static_cast<int64_t>(offsets.size()) - 1; }
};

// One part of a corpus (train, valid, test): pairs of sentences as ids, in memory-mapped files.
// Copies share them.
class Split {
 public:
  Split(Sentences source, Sentences target);  // equally many of both

  int64_t size() const { return source_.size(); }
  // Ids of a sentence, the end symbol included.
  std::span<const text::Id> source(int64_t index) const { return sentence(source_, index); }
  std::span<const text::Id> target(int64_t index) const { return sentence(target_, index); }
  int64_t source_length(int64_t index) const { return std::ssize(source(index)); }
  int64_t target_length(int64_t index) const { return std::ssize(target(index)); }

  // The lines as the user gave them, for validation and scoring. Throws Error for the training
  // split, which keeps none.
  std::vector<std::string> source_lines() const { return lines(source_text_); }
  std::vector<std::string> target_lines() const { return lines(target_text_); }

  // Where the lines are.
  void set_lines(std::filesystem::path source, std::filesystem::path target);

 private:
  static std::span<const text::Id> sentence(const Sentences& sentences, int64_t index);
  std::vector<std::string> lines(const std::filesystem::path& path) const;

  Sentences source_, target_;
  std::filesystem::path source_text_, target_text_;  // empty: lines were not kept
};

}  // namespace tessera::corpus
