#include "text/bpe.h"

#include "base/require.h"
#include "files/files.h"
#include "text/line_reader.h"
#include "text/utf8.h"
#include "text/word_cache.h"

#include <algorithm>
#include <charconv>
#include <limits>
#include <unordered_map>

namespace tessera::text {
namespace {

constexpr std::string_view kEnd = "</w>";
constexpr std::string_view kVersion = "#version:";
constexpr int32_t kNone = -1;
constexpr int32_t kNever = std::numeric_limits<int32_t>::max();

std::string_view strip(std::string_view text) {
  const size_t begin = text.find_first_not_of("\r\n ");
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of("\r\n ") - begin + 1);
}

int parse_version(std::string_view line, const std::string& name) {
  std::string_view version = strip(line.substr(kVersion.size()));
  if (version == "0.1") return 1;
  if (version == "0.2") return 2;
  throw Error(fmt::format("{}:1: codes of version '{}' are not known", name, version),
              "versions 0.1 and 0.2 are");
}

Merge parse_merge(std::string_view line, const std::string& name, int64_t number) {
  const std::string_view both = strip(line);
  const size_t blank = both.find(' ');
  require(blank != std::string_view::npos && both.find(' ', blank + 1) == std::string_view::npos,
          "{}:{}: a line of codes must be two symbols with a space between, got '{}'", name, number,
          both);
  return {std::string(both.substr(0, blank)), std::string(both.substr(blank + 1))};
}

}  // namespace

BpeCodes BpeCodes::load(const std::filesystem::path& path) {
  return parse(read_file(path), path.string());
}

BpeCodes BpeCodes::parse(std::string_view text, const std::string& name) {
  BpeCodes codes;
  codes.version = 1;
  text = without_mark(text);
  while (text.ends_with('\n')) text.remove_suffix(1);
  for (int64_t number = 1; !text.empty(); ++number) {
    const std::string_view line = text.substr(0, text.find('\n'));
    text.remove_prefix(std::min(text.size(), line.size() + 1));
    require(find_invalid_utf8(line) == std::string_view::npos, "{}:{}: invalid UTF-8", name,
            number);
    if (number == 1 && line.starts_with(kVersion))
      codes.version = parse_version(line, name);
    else
      codes.merges.push_back(parse_merge(line, name, number));
  }
  return codes;
}

std::string BpeCodes::text() const {
  std::string text = fmt::format("{} 0.{}\n", kVersion, version);
  for (const auto& [left, right] : merges) {
    text += left;
    text += ' ';
    text += right;
    text += '\n';
  }
  return text;
}

std::unordered_set<std::string> load_bpe_vocabulary(const std::filesystem::path& path,
                                                    int64_t threshold) {
  std::unordered_set<std::string> vocabulary;
  LineReader reader(path);
  std::string_view line;
  while (reader.next(line)) {
    line = strip(line);
    const size_t blank = line.find(' ');
    int64_t count = 0;
    const char* end = line.data() + line.size();
    require(blank != std::string_view::npos && blank > 0 &&
                std::from_chars(line.data() + blank + 1, end, count).ptr == end,
            "{}: a line of a vocabulary must be 'symbol count', got '{}'", reader.where(), line);
    if (count >= threshold) vocabulary.emplace(line.substr(0, blank));
  }
  return vocabulary;
}

struct Bpe::State {
  struct Joined {
    int32_t rank;
    int32_t symbol;
  };
  struct Hash {
    using is_transparent = void;
    size_t operator()(std::string_view text) const { return std::hash<std::string_view>{}(text); }
  };
  struct PairHash {
    size_t operator()(uint64_t pair) const { return (pair * 0x9E3779B97F4A7C15ULL) >> 16; }
  };
  // A symbol of a word while it is being put together.
  struct Part {
    int32_t symbol;  // kNone: in no merge
    uint32_t end;    // in the word, "</w>" not counted
  };

  State(BpeCodes given, BpeOptions chosen);

  int32_t intern(const std::string& symbol);
  int32_t find(std::string_view symbol) const;
  const Joined* find_pair(int32_t left, int32_t right) const;
  void begin(std::string_view word, std::vector<Part>& parts) const;
  void join(std::vector<Part>& parts) const;
  void split(std::string_view word, std::vector<std::string_view>& pieces) const;
  void split_unknown(std::string_view piece, bool final,
                     std::vector<std::string_view>& pieces) const;
  bool is_known(std::string_view piece, bool final) const;
  void append_word(std::string_view word, std::string& out) const;

  BpeCodes codes;
  BpeOptions options;
  std::unordered_map<std::string, int32_t, Hash, std::equal_to<>> symbols;
  std::unordered_map<uint64_t, Joined, PairHash> pairs;
  std::unordered_map<std::string, size_t, Hash, std::equal_to<>> made_by;  // symbol -> merge
  mutable WordCache<std::string> cache;
};

Bpe::State::State(BpeCodes given, BpeOptions chosen)
    : codes(std::move(given)), options(std::move(chosen)) {
  if (options.merges >= 0 && options.merges < static_cast<int64_t>(codes.merges.size()))
    codes.merges.resize(static_cast<size_t>(options.merges));
  std::unordered_map<uint64_t, size_t> last;
  const auto key = [&](size_t k) {
    return static_cast<uint64_t>(intern(codes.merges[k].first)) << 32 |
           static_cast<uint32_t>(intern(codes.merges[k].second));
  };
  for (size_t k = 0; k < codes.merges.size(); ++k) {
    const auto& [left, right] = codes.merges[k];
    // If a merge is given twice, the first one counts.
    pairs.try_emplace(key(k), Joined{static_cast<int32_t>(k), intern(left + right)});
    last[key(k)] = k;
  }
  if (options.vocabulary.empty()) return;
  // Several merges may make one symbol; subword-nmt splits it by the one whose last mention is the
  // earliest.
  for (size_t k = 0; k < codes.merges.size(); ++k)
    if (last[key(k)] == k) made_by.try_emplace(codes.merges[k].first + codes.merges[k].second, k);
}

int32_t Bpe::State::intern(const std::string& symbol) {
  return symbols.try_emplace(symbol, static_cast<int32_t>(symbols.size())).first->second;
}

int32_t Bpe::State::find(std::string_view symbol) const {
  const auto found = symbols.find(symbol);
  return found == symbols.end() ? kNone : found->second;
}

const Bpe::State::Joined* Bpe::State::find_pair(int32_t left, int32_t right) const {
  if (left == kNone || right == kNone) return nullptr;
  const auto found = pairs.find(static_cast<uint64_t>(left) << 32 | static_cast<uint32_t>(right));
  return found == pairs.end() ? nullptr : &found->second;
}

// A word as code points, the last one with its end mark.
void Bpe::State::begin(std::string_view word, std::vector<Part>& parts) const {
  for (size_t position = 0; position < word.size();) {
    const std::string_view c = word.substr(position, code_point_size(word, position));
    position += c.size();
    parts.push_back({find(c), static_cast<uint32_t>(position)});
  }
  if (codes.version == 1) {
    parts.push_back({find(kEnd), parts.back().end});
    return;
  }
  const size_t start = parts.size() < 2 ? 0 : parts[parts.size() - 2].end;
  parts.back().symbol = find(std::string(word.substr(start)) += kEnd);
}

// Joins all pairs of the lowest rank, from left to right, until there is none. The rank of every
// pair is kept beside it, so that a round is one pass over numbers.
void Bpe::State::join(std::vector<Part>& parts) const {
  std::vector<int32_t> ranks;  // of parts k and k + 1
  const auto rank = [&](size_t k) {
    const Joined* pair = find_pair(parts[k].symbol, parts[k + 1].symbol);
    return pair == nullptr ? kNever : pair->rank;
  };
  for (size_t k = 0; k + 1 < parts.size(); ++k) ranks.push_back(rank(k));
  while (parts.size() > 1) {
    const int32_t best = *std::min_element(ranks.begin(), ranks.end());
    if (best == kNever) return;
    size_t kept = 0;
    bool joined_before = false;
    for (size_t k = 0; k < parts.size(); ++k) {
      const bool joins = k + 1 < parts.size() && ranks[k] == best;
      Part part = parts[k];
      int32_t pair_rank = k + 1 < parts.size() ? ranks[k] : kNever;
      if (joins) {
        part = {find_pair(parts[k].symbol, parts[k + 1].symbol)->symbol, parts[k + 1].end};
        ++k;
      }
      parts[kept] = part;
      // Entries up to `kept` are final; those after k are not touched yet.
      if (kept > 0 && (joins || joined_before)) ranks[kept - 1] = rank(kept - 1);
      if (kept < ranks.size()) ranks[kept] = pair_rank;
      joined_before = joins;
      ++kept;
    }
    parts.resize(kept);
    ranks.resize(kept - 1);
  }
}

void Bpe::State::split(std::string_view word, std::vector<std::string_view>& pieces) const {
  if (word.empty()) return;
  if (code_point_size(word, 0) == word.size()) {
    pieces.push_back(word);
    return;
  }
  std::vector<Part> parts;
  begin(word, parts);
  join(parts);
  // A "</w>" on its own is not a piece.
  if (parts.size() > 1 && parts[parts.size() - 2].end == parts.back().end) parts.pop_back();
  size_t start = 0;
  for (const Part& part : parts) {
    const std::string_view piece = word.substr(start, part.end - start);
    const bool final = part.end == word.size();
    start = part.end;
    if (options.vocabulary.empty() || is_known(piece, final))
      pieces.push_back(piece);
    else
      split_unknown(piece, final, pieces);
  }
}

bool Bpe::State::is_known(std::string_view piece, bool final) const {
  std::string symbol(piece);
  if (!final) symbol += options.separator;
  return options.vocabulary.contains(symbol);
}

// Undoes merges until every part is known or cannot be split.
void Bpe::State::split_unknown(std::string_view piece, bool final,
                               std::vector<std::string_view>& pieces) const {
  std::string symbol(piece);
  if (final) symbol += kEnd;
  const auto found = made_by.find(symbol);
  const size_t left_size = found == made_by.end() ? 0 : codes.merges[found->second].first.size();
  if (found == made_by.end() || left_size > piece.size()) {
    pieces.push_back(piece);
    return;
  }
  const std::string_view left = piece.substr(0, left_size), right = piece.substr(left_size);
  if (is_known(left, false))
    pieces.push_back(left);
  else
    split_unknown(left, false, pieces);
  if (is_known(right, final))
    pieces.push_back(right);
  else
    split_unknown(right, final, pieces);
}

void Bpe::State::append_word(std::string_view word, std::string& out) const {
  const auto make = [&] {
    std::vector<std::string_view> pieces;
    split(word, pieces);
    std::string applied;
    for (size_t k = 0; k < pieces.size(); ++k) {
      applied += pieces[k];
      if (k + 1 < pieces.size()) (applied += options.separator) += ' ';
    }
    return applied;
  };
  cache.get(word, make, [&](const std::string& applied) { out += applied; });
}

Bpe::Bpe(BpeCodes codes, BpeOptions options)
    : state_(std::make_shared<const State>(std::move(codes), std::move(options))) {}

void Bpe::split(std::string_view word, std::vector<std::string_view>& pieces) const {
  pieces.clear();
  state_->split(word, pieces);
}

void Bpe::apply(std::string_view line, std::string& out) const {
  const std::string_view words = strip(line);
  if (words.empty()) {
    out += line;
    return;
  }
  const size_t begin = words.data() - line.data();
  out += line.substr(0, begin);
  for (size_t position = 0; position < words.size();) {
    const size_t end = std::min(words.find(' ', position), words.size());
    if (end > position) {
      if (position > 0) out += ' ';
      state_->append_word(words.substr(position, end - position), out);
    }
    position = end + 1;
  }
  out += line.substr(begin + words.size());
}

std::string Bpe::apply(std::string_view line) const {
  std::string out;
  apply(line, out);
  return out;
}

const BpeCodes& Bpe::codes() const {
  return state_->codes;
}

const BpeOptions& Bpe::options() const {
  return state_->options;
}

}  // namespace tessera::text
