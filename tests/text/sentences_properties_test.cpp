// What must hold for any text.

#include "text/sentences.h"
#include "text/utf8.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tessera::text {
namespace {

// Code points of all planes. Those that matter for the splitting are frequent.
std::string any_paragraphs() {
  const auto special = rc::gen::elementOf(std::u32string(
      U" \t\u00A0\n\r\u2028...?!…。\"'“”„«»)(-–1290aIZzBÉé中ب🙂\u0301"));
  const auto plain = rc::gen::map(rc::gen::inRange<uint32_t>(0, 0x110000 - 0x800), [](uint32_t c) {
    return static_cast<char32_t>(c < 0xD800 ? c : c + 0x800);
  });
  return encode_utf8(*rc::gen::container<std::u32string>(
      rc::gen::weightedOneOf<char32_t>({{4, special}, {1, plain}})));
}

bool begins_or_ends_with_blank(const std::string& sentence) {
  const std::u32string text = decode_utf8(sentence);
  return character_class(text.front()) == CharacterClass::blank ||
         character_class(text.back()) == CharacterClass::blank;
}

RC_GTEST_PROP(SentencesProperties, TextComesBack, (bool line_ends)) {
  const std::string text = any_paragraphs();
  const SentenceSplit split = split_sentences(text, {.line_ends = line_ends});
  RC_ASSERT(join_sentences(split) == text);
  RC_ASSERT(split.gaps.size() == split.sentences.size() + 1);
  for (const std::string& sentence : split.sentences) {
    RC_ASSERT(!sentence.empty());
    RC_ASSERT(!begins_or_ends_with_blank(sentence));
    RC_ASSERT(!line_ends || sentence.find('\n') == std::string::npos);
  }
  for (const std::string& gap : split.gaps) RC_ASSERT(normalise_blanks(gap).empty());
}

}  // namespace
}  // namespace tessera::text
