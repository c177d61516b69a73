#include "corpus/split.h"

#include "base/require.h"
#include "files/files.h"

#include <algorithm>
#include <utility>

namespace tessera::corpus {

Sentences Sentences::copy_of(const std::vector<std::vector<text::Id>>& sentences) {
  struct Storage {
    std::vector<text::Id> ids;
    std::vector<int64_t> offsets{0};
  };
  auto storage = std::make_shared<Storage>();
  for (const std::vector<text::Id>& sentence : sentences) {
    storage->ids.insert(storage->ids.end(), sentence.begin(), sentence.end());
    storage->offsets.push_back(static_cast<int64_t>(storage->ids.size()));
  }
  return {storage->ids, storage->offsets, storage};
}

Split::Split(Sentences source, Sentences target)
    : source_(std::move(source)), target_(std::move(target)) {
  require(source_.size() == target_.size(), "a split has {} source but {} target sentences",
          source_.size(), target_.size());
}

void Split::set_lines(std::filesystem::path source, std::filesystem::path target) {
  source_text_ = std::move(source);
  target_text_ = std::move(target);
}

// Offsets are checked here and not when a corpus is opened, which would read the whole file. Every
// sentence has at least its end symbol.
std::span<const text::Id> Split::sentence(const Sentences& sentences, int64_t index) {
  require(index >= 0 && index < sentences.size(), "no sentence {} in a split of {}", index,
          sentences.size());
  const int64_t begin = sentences.offsets[index], end = sentences.offsets[index + 1];
  if (begin < 0 || begin >= end || end > static_cast<int64_t>(sentences.ids.size()))
    throw Error(fmt::format("the corpus is damaged: offsets {} and {} of sentence {} are not "
                            "places in a file of {} ids",
                            begin, end, index, sentences.ids.size()),
                "run `tessera prepare` again");
  const auto found =
      sentences.ids.subspan(static_cast<size_t>(begin), static_cast<size_t>(end - begin));
  for (const text::Id id : found)
    if (id < 0 || id >= sentences.symbols)
      throw Error(fmt::format("'{}' is damaged: sentence {} has the symbol {}, and the dictionary "
                              "has {}",
                              sentences.file, index, id, sentences.symbols),
                  "run `tessera prepare` again");
  return found;
}

std::vector<std::string> Split::lines(const std::filesystem::path& path) const {
  require(!path.empty(), "the lines of this split were not kept: only its ids are there");
  const std::string text = read_file(path);
  std::vector<std::string> found;
  found.reserve(static_cast<size_t>(size()));
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    found.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  if (static_cast<int64_t>(found.size()) != size())
    throw Error(fmt::format("'{}' has {} lines, but its split {} pairs", path.string(),
                            found.size(), size()),
                "run `tessera prepare` again");
  return found;
}

}  // namespace tessera::corpus
