#include "engine/symbol_text.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tessera {
namespace {

using text::Dictionary;
using text::Tokenizer;

// All symbols after one another, as they would be shown.
std::string shown(const Tokenizer& tokenizer, const std::vector<text::Id>& ids) {
  std::string line;
  bool open = false;
  for (const text::Id id : ids) {
    const engine::SymbolText symbol = engine::symbol_text(tokenizer, id);
    if (open && symbol.blank_before) line += ' ';
    line += symbol.text;
    open = symbol.blank_after;
  }
  return line;
}

Dictionary dictionary_of(const std::vector<std::string>& symbols) {
  Dictionary dictionary;
  for (const std::string& symbol : symbols) dictionary.add(symbol, 1);
  return dictionary;
}

TEST(SymbolText, IsTheWordItself) {
  const Tokenizer words = Tokenizer::words(dictionary_of({"ein", "hund", "￭,"}), false);
  EXPECT_EQ(shown(words, {4, 5}), "ein hund");
  EXPECT_EQ(shown(words, {5, 6}), "hund ￭,") << "a mark means nothing in text that is not raw";
}

TEST(SymbolText, KnowsWherePunctuationStands) {
  const Tokenizer words = Tokenizer::words(dictionary_of({"ein", "hund", "￭,", "(￭", "￭"}), true);
  EXPECT_EQ(shown(words, {7, 4, 5, 6, 4}), "(ein hund, ein");
  EXPECT_EQ(shown(words, {4, 8, 5}), "ein ￭ hund") << "a join mark alone is a word";
}

TEST(SymbolText, JoinsCharacters) {
  const Tokenizer characters = Tokenizer::characters(dictionary_of({"a", "▁", "b"}));
  EXPECT_EQ(shown(characters, {4, 5, 6, 4}), "a ba");
}

TEST(SymbolText, IsEmptyForWhatIsNotText) {
  const Tokenizer words = Tokenizer::words(dictionary_of({"a"}), false);
  EXPECT_EQ(engine::symbol_text(words, Dictionary::kEos).text, "");
  EXPECT_EQ(engine::symbol_text(words, Dictionary::kPad).text, "");
  EXPECT_EQ(engine::symbol_text(words, Dictionary::kBos).text, "□");
  EXPECT_NE(engine::symbol_text(words, Dictionary::kUnk).text, "");
}

}  // namespace
}  // namespace tessera
