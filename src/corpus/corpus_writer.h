#pragma once

#include "corpus/manifest.h"
#include "files/output_folder.h"
#include "text/tokenizer.h"

#include <filesystem>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::corpus {

// Writes a corpus folder, sentence by sentence: nothing but buffers is held in memory. The folder
// appears under its name once commit() has completed it; without commit() nothing is left behind.
//   CorpusWriter writer(folder, tokenizer);
//   writer.begin_split("train");
//   writer.add(source_line, target_line) ...
//   writer.commit(options);
class CorpusWriter {
 public:
  using Existing = OutputFolder::Existing;

  // The first checks of the constructor, to run before long work.
  static void check_folder(const std::filesystem::path& folder, Existing existing);

  CorpusWriter(const std::filesystem::path& folder, const text::Tokenizer& tokenizer,
               Existing existing = Existing::refuse);
  ~CorpusWriter();

  // Lines of all splits but "train" are kept beside their ids.
  void begin_split(const std::string& name);

  // Ids without end symbols, which are added here.
  void add(std::string_view source_line, std::string_view target_line,
           std::span<const text::Id> source, std::span<const text::Id> target);

  // Of the split begun last. add() counts tokens and kept pairs; the caller counts the rest.
  SplitCounts& counts();

  // Makes the folder appear. `options` and `languages` go into the manifest.
  Manifest commit(std::map<std::string, std::string> options, const Languages& languages = {});

 private:
  struct SplitFiles;

  void end_split();

  OutputFolder folder_;
  Manifest manifest_;
  std::vector<int64_t> target_counts_;  // [symbols] in the training split
  std::string split_;                   // begun last
  std::unique_ptr<SplitFiles> files_;
};

}  // namespace tessera::corpus
