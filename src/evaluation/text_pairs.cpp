#include "evaluation/text_pairs.h"

#include "base/require.h"
#include "corpus/corpus.h"
#include "files/files.h"

#include <algorithm>

namespace tessera::evaluation {
namespace {

namespace fs = std::filesystem;

// Whether the tokenizers in two folders make the same symbols of a text.
bool same_tokenizer(const fs::path& one, const fs::path& other) {
  for (const char* name : {"tokenizer.json", "dict.txt", "codes.bpe"}) {
    const bool there = fs::exists(one / name);
    if (there != fs::exists(other / name)) return false;
    if (there && read_file(one / name) != read_file(other / name)) return false;
  }
  return true;
}

}  // namespace

TextPairs TextPairs::read(const CorpusPart& part) {
  const corpus::Corpus corpus = corpus::Corpus::open(part.folder);
  const corpus::Split& split = corpus.split(part.split);
  TextPairs pairs{split.source_lines(), split.target_lines(), Origin{part.folder, split}};
  require(pairs.size() > 0, "the split '{}' has no sentences", part.split);
  if (part.limit > 0 && part.limit < pairs.size()) {
    pairs.sources.resize(static_cast<size_t>(part.limit));
    pairs.references.resize(static_cast<size_t>(part.limit));
  }
  return pairs;
}

SymbolPairs SymbolPairs::of(const TextPairs& pairs, const Engine& engine, bool with_references) {
  SymbolPairs found;
  const auto& origin = pairs.origin;
  if (!origin || !same_tokenizer(origin->folder, engine.folder())) {
    for (const std::string& text : pairs.sources) found.sources.push_back(engine.symbols_of(text));
    if (with_references)
      for (const std::string& text : pairs.references)
        found.references.push_back(engine.symbols_of(text));
    return found;
  }
  const auto copied = [](std::span<const text::Id> ids) {
    return std::vector<text::Id>(ids.begin(), ids.end());
  };
  for (int64_t k = 0; k < pairs.size(); ++k) {
    found.sources.push_back(copied(origin->split.source(k)));
    if (with_references) found.references.push_back(copied(origin->split.target(k)));
  }
  return found;
}

corpus::Split SymbolPairs::split() const {
  return {corpus::Sentences::copy_of(sources), corpus::Sentences::copy_of(references)};
}

}  // namespace tessera::evaluation
