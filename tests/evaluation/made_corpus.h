#pragma once

#include "corpus/corpus_writer.h"
#include "text/tokenizer.h"

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

namespace tessera::test {

// Writes a corpus whose splits (train, valid, test) all hold these pairs.
inline void write_made_corpus(const std::filesystem::path& folder, const text::Tokenizer& tokenizer,
                              const std::vector<std::pair<std::string, std::string>>& pairs,
                              const Languages& languages = {}) {
  corpus::CorpusWriter writer(folder, tokenizer);
  for (const char* split : {"train", "valid", "test"}) {
    writer.begin_split(split);
    for (const auto& [source, target] : pairs)
      writer.add(source, target, tokenizer.encode(source), tokenizer.encode(target));
  }
  writer.commit({}, languages);
}

}  // namespace tessera::test
