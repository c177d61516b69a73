// What must hold for any text.

#include "text/pretokenizer.h"
#include "text/utf8.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tessera::text {
namespace {

// Code points of all planes, with those that mean something to the splitting often among them.
std::string any_text() {
  const auto special = rc::gen::elementOf(
      std::u32string(U" \t\u00A0\n￭％@'’-.,ffed05aZ9ü\u0301\u200D中🙂_"));
  const auto plain = rc::gen::map(rc::gen::inRange<uint32_t>(1, 0x110000 - 0x800), [](uint32_t c) {
    return static_cast<char32_t>(c < 0xD800 ? c : c + 0x800);
  });
  return encode_utf8(*rc::gen::container<std::u32string>(
      rc::gen::weightedOneOf<char32_t>({{3, special}, {1, plain}})));
}

RC_GTEST_PROP(PretokenizerProperties, TextComesBack, ()) {
  const std::string text = any_text();
  RC_ASSERT(find_invalid_utf8(text) == std::string::npos);
  RC_ASSERT(detokenize(pretokenize_line(text)) == normalise_blanks(text));
}

RC_GTEST_PROP(PretokenizerProperties, TokensHaveNoBlanksAndDoNotEndLikePieces, ()) {
  for (const std::string& token : pretokenize(any_text())) {
    RC_ASSERT(!token.empty());
    RC_ASSERT(normalise_blanks(token) == token && token.find(' ') == std::string::npos);
    RC_ASSERT(!token.ends_with("@@"));
  }
}

}  // namespace
}  // namespace tessera::text
