// What must hold for any text.

#include "text/pretokenizer.h"
#include "text/tokenizer.h"
#include "text/utf8.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

namespace tessera::text {
namespace {

// Code points of all planes. Those that matter for the splitting are frequent.
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

// A model may emit any sequence of symbols: pieces before joiners, marks alone, several in a row.
RC_GTEST_PROP(TokenizerProperties, NoMarkStaysWhateverAModelEmits, ()) {
  const std::vector<std::string> symbols{"a@@", "b",   "￭,",   "￭@@", "(￭",  "(￭@@",
                                         "￭",   "￭-￭", "-￭@@", "@@@", "ü@@", "￭'t"};
  Dictionary dictionary;
  for (const std::string& symbol : symbols) dictionary.add(symbol, 1);
  const bool pieces = *rc::gen::arbitrary<bool>();
  const Tokenizer tokenizer = pieces ? Tokenizer::bpe(Bpe(BpeCodes{}), dictionary, /*raw=*/true)
                                     : Tokenizer::words(dictionary, /*raw=*/true);
  const auto ids = *rc::gen::container<std::vector<Id>>(rc::gen::inRange<Id>(
      Dictionary::kSpecials, Dictionary::kSpecials + static_cast<Id>(symbols.size())));
  const std::string text = tokenizer.decode(ids);
  RC_ASSERT(text.find("￭") == std::string::npos);
  RC_ASSERT(normalise_blanks(text) == text);
  // Nothing but marks, separators and blanks is lost.
  const auto without = [](std::string from, const std::string& what) {
    for (size_t at = from.find(what); at != std::string::npos; at = from.find(what, at))
      from.erase(at, what.size());
    return from;
  };
  std::string letters;
  for (const Id id : ids) {
    std::string symbol = dictionary.symbol(id);
    if (pieces && symbol.ends_with("@@")) symbol.erase(symbol.size() - 2);
    letters += without(symbol, "￭");
  }
  RC_ASSERT(without(text, " ") == letters);
}

}  // namespace
}  // namespace tessera::text
