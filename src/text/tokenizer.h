#pragma once

#include "text/dictionary.h"

#include <tessera/base/enum_names.h>

#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::text {

// How a line becomes symbols.
enum class TokenizerKind {
  bpe,         // words, then subword-nmt's pieces
  words,       // what stands between blanks
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

// Lines of text to ids and back. Immutable and thread-safe.
class Tokenizer {
 public:
  // From a folder that save() wrote: tokenizer.json, dict.txt, and codes.bpe for bpe.
  static Tokenizer load(const std::filesystem::path& folder);
  void save(const std::filesystem::path& folder) const;

  // Without the end symbol.
  std::vector<Id> encode(std::string_view line) const;

  // Up to the first </s>; <s> and <pad> are left out. Pieces are joined and, where text was raw, the
  // words put back as they were written.
  std::string decode(std::span<const Id> ids) const;

  // The symbols as they are, separated by blanks ("ein kle@@ iner hund").
  std::string pieces(std::span<const Id> ids) const;

  const Dictionary& dictionary() const;
  bool raw() const;  // false: lines are tokenised already and stay so
};

}  // namespace tessera::text
