#pragma once

#include "text/bpe.h"
#include "text/dictionary.h"

#include <tessera/base/enum_names.h>

#include <array>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera::text {

// How a line becomes symbols.
enum class TokenizerKind {
  bpe,         // words, then subword-nmt's pieces
  words,       // the words between blanks
  characters,  // code points; a blank is a symbol of its own
};

}  // namespace tessera::text

template <>
struct tessera::EnumNames<tessera::text::TokenizerKind> {
  using Kind = tessera::text::TokenizerKind;
  static constexpr std::string_view what = "tokenizer";
  static constexpr std::array<std::pair<Kind, std::string_view>, 3> values{
      {{Kind::bpe, "bpe"}, {Kind::words, "words"}, {Kind::characters, "characters"}}};
};

namespace tessera::text {

// Lines of text to ids and back. Immutable, thread-safe and cheap to copy.
class Tokenizer {
 public:
  //   raw  text is real text: it is split into words and punctuation first (pretokenizer.h), and
  //        put together again by decode(). Otherwise it is already tokenised: words stand between
  //        blanks (space, tab and the like) and stay as they are.
  static Tokenizer bpe(Bpe bpe, Dictionary dictionary, bool raw);
  static Tokenizer words(Dictionary dictionary, bool raw);
  // Runs of blanks become one symbol "▁" (none at the ends); a ▁ of the text itself is <unk>.
  static Tokenizer characters(Dictionary dictionary);

  // From a folder that save() wrote: tokenizer.json, dict.txt, and codes.bpe for bpe. The folder
  // must exist. Throws Error for files that are missing, broken or of a newer format.
  static Tokenizer load(const std::filesystem::path& folder);
  void save(const std::filesystem::path& folder) const;

  // Without the end symbol. Symbols that the dictionary lacks become <unk>, and so do words of the
  // text with the name of a special symbol.
  std::vector<Id> encode(std::string_view line) const;

  // Up to the first </s>; <s> and <pad> are left out. Pieces are joined and, where text was raw,
  // the words put back as they were written.
  std::string decode(std::span<const Id> ids) const;

  // The symbols as they are, separated by blanks ("ein kle@@ iner hund"); of the same ids as
  // decode().
  std::string pieces(std::span<const Id> ids) const;

  const Dictionary& dictionary() const;
  TokenizerKind kind() const;
  bool raw() const;  // false: lines are tokenised already and stay so

 private:
  struct State;
  explicit Tokenizer(std::shared_ptr<const State> state);

  std::shared_ptr<const State> state_;
};

// The symbols of a line before they have numbers: what to count for a dictionary. `bpe` is for
// TokenizerKind::bpe alone.
std::vector<std::string> split_symbols(std::string_view line, TokenizerKind kind, bool raw,
                                       const Bpe* bpe);

// The words of a line, before BPE: pretokenised if raw, else the words between blanks.
std::vector<std::string> split_words(std::string_view line, bool raw);

}  // namespace tessera::text
