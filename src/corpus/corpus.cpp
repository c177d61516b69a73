#include "corpus/corpus.h"

#include "base/require.h"
#include "files/files.h"

#include <fmt/ranges.h>

#include <bit>
#include <memory>
#include <utility>

namespace tessera::corpus {
namespace {

namespace fs = std::filesystem;

constexpr const char* kAgain = "run `tessera prepare` again";

static_assert(std::endian::native == std::endian::little,
              "corpus files hold numbers with the lowest byte first");

// The numbers of a file; they live as long as the file is mapped.
template <class T>
std::span<const T> numbers(const MappedFile& file) {
  return {reinterpret_cast<const T*>(file.data()), file.size() / sizeof(T)};
}

// The first and last offset are checked here; the others when a sentence is asked for.
Sentences open_sentences(const fs::path& folder, const std::string& split, const std::string& side,
                         int64_t pairs, int64_t symbols) {
  struct Files {
    MappedFile ids, offsets;
  };
  const fs::path offsets_path = folder / offsets_file(split, side);
  const fs::path ids_path = folder / ids_file(split, side);
  auto files = std::make_shared<Files>(Files{MappedFile(ids_path), MappedFile(offsets_path)});
  const std::span<const text::Id> ids = numbers<text::Id>(files->ids);
  const std::span<const int64_t> offsets = numbers<int64_t>(files->offsets);
  if (offsets.empty() || static_cast<int64_t>(offsets.size()) != pairs + 1 ||
      offsets.front() != 0 || offsets.back() != static_cast<int64_t>(ids.size()))
    throw Error(fmt::format("'{}' is damaged: it does not describe {} sentences of {} ids",
                            offsets_path.string(), pairs, ids.size()),
                kAgain);
  return {ids, offsets, files, symbols, ids_path.string()};
}

std::vector<int64_t> find_unused(const fs::path& folder, const Manifest& manifest) {
  std::vector<int64_t> unused{text::Dictionary::kBos, text::Dictionary::kPad,
                              text::Dictionary::kUnk};
  if (!manifest.splits.contains("train")) return unused;
  const MappedFile file(folder / kTargetCountsFile);
  const std::span<const int64_t> counts = numbers<int64_t>(file);
  if (static_cast<int64_t>(counts.size()) != manifest.symbols)
    throw Error(fmt::format("'{}' is damaged: it has counts of {} symbols, not of {}",
                            (folder / kTargetCountsFile).string(), counts.size(), manifest.symbols),
                kAgain);
  for (int64_t id = text::Dictionary::kSpecials; id < manifest.symbols; ++id)
    if (counts[id] == 0) unused.push_back(id);
  return unused;
}

}  // namespace

Corpus::Corpus(fs::path folder, Manifest manifest, text::Tokenizer tokenizer)
    : folder_(std::move(folder)),
      manifest_(std::move(manifest)),
      tokenizer_(std::move(tokenizer)),
      fingerprint_(manifest_.fingerprint()),
      unused_in_targets_(find_unused(folder_, manifest_)) {
  const int64_t symbols = tokenizer_.dictionary().size();
  if (symbols != manifest_.symbols)
    throw Error(fmt::format("the corpus '{}' is damaged: its dictionary has {} symbols, not {}",
                            folder_.string(), symbols, manifest_.symbols),
                kAgain);
  for (const auto& [name, counts] : manifest_.splits) {
    Split split(open_sentences(folder_, name, "src", counts.kept, symbols),
                open_sentences(folder_, name, "tgt", counts.kept, symbols));
    if (manifest_.files.contains(lines_file(name, "src")))
      split.set_lines(folder_ / lines_file(name, "src"), folder_ / lines_file(name, "tgt"));
    splits_.emplace(name, std::move(split));
  }
}

Corpus Corpus::open(const fs::path& folder, bool verify_contents) {
  Manifest manifest = Manifest::load(folder);
  manifest.check_files(folder, verify_contents);
  return Corpus(folder, std::move(manifest), text::Tokenizer::load(folder));
}

const Split& Corpus::split(const std::string& name) const {
  const auto found = splits_.find(name);
  if (found != splits_.end()) return found->second;
  std::vector<std::string> names;
  for (const auto& [known, split] : splits_) names.push_back(known);
  throw Error(fmt::format("the corpus '{}' has no split '{}', only: {}", folder_.string(), name,
                          fmt::join(names, ", ")));
}

}  // namespace tessera::corpus
