#include "text/dictionary.h"

#include "base/regular_file.h"
#include "base/require.h"
#include "files/files.h"
#include "text/line_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <unordered_set>

namespace tessera::text {
namespace {

constexpr std::string_view kOverwrite = " #fairseq:overwrite";
constexpr int64_t kMostSymbols = 10'000'000;

int64_t parse_count(std::string_view text, const std::string& where) {
  int64_t count = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), count);
  require(failure == std::errc() && end == text.data() + text.size() && count >= 0,
          "{}: a line must be 'symbol count', but '{}' is not a count", where, text);
  return count;
}

}  // namespace

Dictionary::Dictionary() {
  for (const char* special : {"<s>", "<pad>", "</s>", "<unk>"}) append(special, 0);
}

Dictionary Dictionary::load(const std::filesystem::path& path) {
  require_regular_file(path, kMostTextBytes);
  Dictionary dictionary;
  LineReader reader(path);
  std::string_view line;
  while (reader.next(line)) {
    const bool overwrite = line.ends_with(kOverwrite);
    if (overwrite) line.remove_suffix(kOverwrite.size());
    const size_t blank = line.rfind(' ');
    require(blank != std::string_view::npos && blank > 0,
            "{}: a line must be 'symbol count', got '{}'", reader.where(), line);
    const std::string symbol(line.substr(0, blank));
    const int64_t count = parse_count(line.substr(blank + 1), reader.where());
    if (!overwrite) {
      const auto found = dictionary.ids_.find(symbol);
      require(found == dictionary.ids_.end() || found->second >= kSpecials,
              "{}: '{}' is a special symbol, which every dictionary has already", reader.where(),
              symbol);
      require(found == dictionary.ids_.end(), "{}: '{}' is in the dictionary twice", reader.where(),
              symbol);
    }
    require(dictionary.size() < kMostSymbols, "{}: a dictionary has at most {} symbols",
            reader.where(), kMostSymbols);
    dictionary.append(symbol, count);
  }
  require(dictionary.size() > kSpecials, "'{}' is empty: a dictionary has lines 'symbol count'",
          reader.name());
  return dictionary;
}

void Dictionary::save(const std::filesystem::path& path) const {
  std::string text;
  std::unordered_set<std::string_view> seen(symbols_.begin(), symbols_.begin() + kSpecials);
  for (size_t k = kSpecials; k < symbols_.size(); ++k) {
    text += fmt::format("{} {}", symbols_[k], counts_[k]);
    if (!seen.insert(symbols_[k]).second) text += kOverwrite;
    text += '\n';
  }
  write_file_atomically(path, text);
}

Dictionary Dictionary::from_counts(const std::unordered_map<std::string, int64_t>& counts,
                                   int64_t size) {
  Dictionary dictionary;
  std::vector<const std::pair<const std::string, int64_t>*> order;
  for (const auto& entry : counts)
    if (!dictionary.ids_.contains(entry.first)) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    return a->second != b->second ? a->second > b->second : a->first < b->first;
  });
  for (const auto* entry : order) {
    if (dictionary.size() >= size) break;
    dictionary.append(entry->first, entry->second);
  }
  return dictionary;
}

Id Dictionary::add(std::string symbol, int64_t count) {
  const auto found = ids_.find(symbol);
  if (found == ids_.end()) return append(std::move(symbol), count);
  counts_[found->second] += count;
  return found->second;
}

Id Dictionary::append(std::string symbol, int64_t count) {
  require(!symbol.empty() && symbol.find('\n') == std::string::npos,
          "a symbol of a dictionary must not be empty nor contain a line end");
  const Id id = static_cast<Id>(symbols_.size());
  ids_.insert_or_assign(symbol, id);
  symbols_.push_back(std::move(symbol));
  counts_.push_back(count);
  return id;
}

Id Dictionary::id(std::string_view symbol) const {
  const auto found = ids_.find(symbol);
  return found == ids_.end() ? kUnk : found->second;
}

const std::string& Dictionary::symbol(Id id) const {
  require(id >= 0 && id < size(), "there is no symbol number {}: the dictionary has {}", id,
          size());
  return symbols_[id];
}

int64_t Dictionary::count(Id id) const {
  symbol(id);
  return counts_[id];
}

int64_t Dictionary::size() const {
  return static_cast<int64_t>(symbols_.size());
}

std::optional<std::string> Dictionary::difference(const Dictionary& other) const {
  if (size() != other.size())
    return fmt::format("the dictionary has {} symbols, there {}", size(), other.size());
  for (Id id = 0; id < size(); ++id)
    if (symbol(id) != other.symbol(id))
      return fmt::format("symbol {} is '{}', there '{}'", id, symbol(id), other.symbol(id));
  return std::nullopt;
}

}  // namespace tessera::text
