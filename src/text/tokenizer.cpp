#include "text/tokenizer.h"

#include "base/regular_file.h"
#include "base/require.h"
#include "files/files.h"
#include "text/pretokenizer.h"
#include "text/utf8.h"
#include "text/word_cache.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <optional>

namespace tessera::text {
namespace {

constexpr std::string_view kFormat = "tessera-tokenizer";
constexpr int kFormatVersion = 1;
constexpr std::string_view kBlank = "▁";
constexpr std::string_view kBlanks = " \t\n\v\f\r";
const std::string kSeparator = "@@";

// Calls use(word) for every word between blanks.
template <class Use>
void for_each_word(std::string_view line, const Use& use) {
  for (size_t begin = line.find_first_not_of(kBlanks); begin < line.size();) {
    const size_t end = std::min(line.find_first_of(kBlanks, begin), line.size());
    use(line.substr(begin, end - begin));
    begin = line.find_first_not_of(kBlanks, end);
  }
}

// Calls use(symbol) for every character; blanks become kBlank.
template <class Use>
void for_each_character(std::string_view line, const Use& use) {
  const std::string text = normalise_blanks(line);
  for (size_t position = 0; position < text.size();) {
    const size_t size = code_point_size(text, position);
    const std::string_view c = std::string_view(text).substr(position, size);
    use(c == " " ? kBlank : c == kBlank ? "<unk>" : c);
    position += size;
  }
}

std::vector<std::string> piece_symbols(const Bpe& bpe, std::string_view word) {
  std::vector<std::string_view> pieces;
  bpe.split(word, pieces);
  std::vector<std::string> symbols(pieces.begin(), pieces.end());
  for (size_t k = 0; k + 1 < symbols.size(); ++k) symbols[k] += bpe.options().separator;
  return symbols;
}

}  // namespace

std::vector<std::string> split_words(std::string_view line, bool raw) {
  if (raw) return pretokenize(line);
  std::vector<std::string> words;
  for_each_word(line, [&](std::string_view word) { words.emplace_back(word); });
  return words;
}

std::vector<std::string> split_symbols(std::string_view line, TokenizerKind kind, bool raw,
                                       const Bpe* bpe) {
  if (kind == TokenizerKind::words) return split_words(line, raw);
  std::vector<std::string> symbols;
  if (kind == TokenizerKind::characters) {
    for_each_character(line, [&](std::string_view c) { symbols.emplace_back(c); });
    return symbols;
  }
  for (const std::string& word : split_words(line, raw))
    for (std::string& symbol : piece_symbols(*bpe, word)) symbols.push_back(std::move(symbol));
  return symbols;
}

struct Tokenizer::State {
  TokenizerKind kind;
  bool raw;
  Dictionary dictionary;
  std::optional<Bpe> bpe;
  mutable WordCache<std::vector<Id>> cache{};  // for bpe

  Id plain_id(std::string_view symbol) const;
  void encode_word(std::string_view word, std::vector<Id>& ids) const;
  std::string join(std::span<const Id> ids) const;
};

// Text must not be able to say "end of sentence".
Id Tokenizer::State::plain_id(std::string_view symbol) const {
  const Id id = dictionary.id(symbol);
  return id < Dictionary::kSpecials ? Dictionary::kUnk : id;
}

void Tokenizer::State::encode_word(std::string_view word, std::vector<Id>& ids) const {
  if (kind != TokenizerKind::bpe) {
    ids.push_back(plain_id(word));
    return;
  }
  const auto make = [&] {
    std::vector<Id> made;
    for (const std::string& symbol : piece_symbols(*bpe, word)) made.push_back(plain_id(symbol));
    return made;
  };
  cache.get(word, make,
            [&](const std::vector<Id>& made) { ids.insert(ids.end(), made.begin(), made.end()); });
}

std::string Tokenizer::State::join(std::span<const Id> ids) const {
  std::string text;
  bool inside = true;  // no blank before the next piece
  for (const Id id : ids) {
    std::string_view symbol = dictionary.symbol(id);
    if (kind == TokenizerKind::characters) {
      text += symbol == kBlank ? " " : symbol;
      continue;
    }
    if (!inside) text += ' ';
    inside = kind == TokenizerKind::bpe && symbol.ends_with(kSeparator);
    if (inside) symbol.remove_suffix(kSeparator.size());
    text += symbol;
  }
  return text;
}

Tokenizer::Tokenizer(std::shared_ptr<const State> state) : state_(std::move(state)) {}

Tokenizer Tokenizer::bpe(Bpe bpe, Dictionary dictionary, bool raw) {
  require(bpe.options().separator == kSeparator, "a tokenizer's BPE separator must be '{}'",
          kSeparator);
  return Tokenizer(std::make_shared<const State>(TokenizerKind::bpe, raw, std::move(dictionary),
                                                 std::move(bpe)));
}

Tokenizer Tokenizer::words(Dictionary dictionary, bool raw) {
  return Tokenizer(std::make_shared<const State>(TokenizerKind::words, raw, std::move(dictionary),
                                                 std::nullopt));
}

Tokenizer Tokenizer::characters(Dictionary dictionary) {
  return Tokenizer(std::make_shared<const State>(TokenizerKind::characters, true,
                                                 std::move(dictionary), std::nullopt));
}

void Tokenizer::save(const std::filesystem::path& folder) const {
  const nlohmann::ordered_json about = {{"format", kFormat},
                                        {"version", kFormatVersion},
                                        {"kind", name_of(state_->kind)},
                                        {"raw", state_->raw}};
  state_->dictionary.save(folder / "dict.txt");
  if (state_->bpe) write_file_atomically(folder / "codes.bpe", state_->bpe->codes().text());
  write_file_atomically(folder / "tokenizer.json", about.dump(2) + "\n");
}

Tokenizer Tokenizer::load(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / "tokenizer.json";
  const auto about = nlohmann::json::parse(read_file(path, kMostSettingsBytes), nullptr, false);
  const auto fail = [&](std::string_view what) {
    return Error(fmt::format("'{}' is not a tokenizer of ours: {}", path.string(), what));
  };
  if (!about.is_object() || !about.contains("format") || about["format"] != kFormat)
    throw fail("it is not JSON with our \"format\"");
  if (!about.contains("version") || !about["version"].is_number_integer())
    throw fail("no \"version\"");
  const int64_t version = about["version"];
  require(version <= kFormatVersion,
          "'{}' has format version {}, this program knows {}: use a newer tessera", path.string(),
          version, kFormatVersion);
  if (!about.contains("kind") || !about["kind"].is_string()) throw fail("no \"kind\"");
  if (!about.contains("raw") || !about["raw"].is_boolean()) throw fail("no \"raw\"");
  const std::string kind_name = about["kind"];
  const bool raw = about["raw"];

  Dictionary dictionary = Dictionary::load(folder / "dict.txt");
  if (kind_name == name_of(TokenizerKind::bpe))
    return bpe(Bpe(BpeCodes::load(folder / "codes.bpe")), std::move(dictionary), raw);
  if (kind_name == name_of(TokenizerKind::words)) return words(std::move(dictionary), raw);
  if (kind_name == name_of(TokenizerKind::characters)) return characters(std::move(dictionary));
  throw fail(fmt::format("unknown kind '{}'", kind_name));
}

std::vector<Id> Tokenizer::encode(std::string_view line) const {
  std::vector<Id> ids;
  if (state_->kind == TokenizerKind::characters)
    for_each_character(line, [&](std::string_view c) { ids.push_back(state_->plain_id(c)); });
  else if (state_->raw)
    for (const std::string& word : pretokenize(line)) state_->encode_word(word, ids);
  else
    for_each_word(line, [&](std::string_view word) { state_->encode_word(word, ids); });
  return ids;
}

namespace {

// The ids that are text: up to the first end symbol, without padding and begin symbols.
std::vector<Id> visible(std::span<const Id> ids) {
  std::vector<Id> kept;
  for (const Id id : ids) {
    if (id == Dictionary::kEos) break;
    if (id != Dictionary::kBos && id != Dictionary::kPad) kept.push_back(id);
  }
  return kept;
}

}  // namespace

std::string Tokenizer::decode(std::span<const Id> ids) const {
  std::string joined = state_->join(visible(ids));
  if (!state_->raw || state_->kind == TokenizerKind::characters) return joined;
  return detokenize(joined);
}

std::string Tokenizer::pieces(std::span<const Id> ids) const {
  std::string text;
  for (const Id id : visible(ids)) {
    if (!text.empty()) text += ' ';
    text += state_->dictionary.symbol(id);
  }
  return text;
}

const Dictionary& Tokenizer::dictionary() const {
  return state_->dictionary;
}

TokenizerKind Tokenizer::kind() const {
  return state_->kind;
}

bool Tokenizer::raw() const {
  return state_->raw;
}

}  // namespace tessera::text
