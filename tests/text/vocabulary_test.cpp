#include "text/vocabulary.h"

#include "files/files.h"
#include "text/fixtures.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>

namespace tessera::text {
namespace {

using test::kTextFixtures;
using testing::HasSubstr;

std::vector<std::string> caption_lines() {
  std::istringstream text(read_file(kTextFixtures / "captions.txt"));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

VocabularyLearner learner(const VocabularyOptions& options) {
  VocabularyLearner made(options);
  for (const std::string& line : caption_lines()) made.add(line);
  return made;
}

TEST(Vocabulary, IsAsLargeAsAskedForAndLeavesNothingOut) {
  for (const bool raw : {true, false})
    for (const int64_t size : {85, 90, 97, 100, 108}) {
      const Tokenizer tokenizer = learner({.size = size, .raw = raw}).learn();
      const Dictionary& dictionary = tokenizer.dictionary();
      EXPECT_LE(dictionary.size(), size);
      EXPECT_GE(dictionary.size(), size - 2);
      std::vector<int64_t> counts(static_cast<size_t>(dictionary.size()));
      for (const std::string& line : caption_lines())
        for (const Id id : tokenizer.encode(line)) ++counts[static_cast<size_t>(id)];
      EXPECT_EQ(counts[Dictionary::kUnk], 0) << size;
      for (Id id = Dictionary::kSpecials; id < dictionary.size(); ++id) {
        EXPECT_EQ(dictionary.count(id), counts[static_cast<size_t>(id)]) << dictionary.symbol(id);
        EXPECT_GT(dictionary.count(id), 0) << dictionary.symbol(id);
      }
    }
}

TEST(Vocabulary, StaysSmallerWhereTheTextHasNoMore) {
  const Tokenizer tokenizer = learner({.size = 5000}).learn();
  EXPECT_LT(tokenizer.dictionary().size(), 300);
}

TEST(Vocabulary, SaysHowLargeItMustBeAtLeast) {
  try {
    learner({.size = 20}).learn();
    FAIL();
  } catch (const UsageError& error) {
    EXPECT_THAT(error.what(), HasSubstr("the characters of the text alone need"));
  }
  EXPECT_THROW(VocabularyLearner({.size = 4}), UsageError);
}

TEST(Vocabulary, TakesTheMostFrequentWordsOrCharacters) {
  const Tokenizer words = learner({.kind = TokenizerKind::words, .size = 10, .raw = false}).learn();
  EXPECT_EQ(words.dictionary().size(), 10);
  EXPECT_EQ(words.dictionary().symbol(4), ".");
  EXPECT_EQ(words.dictionary().count(4), 12);
  const Tokenizer characters = learner({.kind = TokenizerKind::characters, .size = 12}).learn();
  EXPECT_EQ(characters.dictionary().size(), 12);
  EXPECT_EQ(characters.dictionary().symbol(4), "▁");
}

TEST(Vocabulary, MakesADictionaryForGivenCodes) {
  const BpeCodes codes = BpeCodes::load(kTextFixtures / "captions.codes");
  const Tokenizer tokenizer = learner({.raw = false}).learn_dictionary(codes);
  // As many as subword-nmt's get-vocab counts.
  std::istringstream vocabulary(read_file(kTextFixtures / "captions.vocab"));
  int64_t symbols = 0;
  for (std::string symbol, count; vocabulary >> symbol >> count; ++symbols)
    EXPECT_EQ(tokenizer.dictionary().count(tokenizer.dictionary().id(symbol)), std::stoll(count))
        << symbol;
  EXPECT_EQ(tokenizer.dictionary().size(), symbols + Dictionary::kSpecials);
}

TEST(Vocabulary, NeedsText) {
  for (const TokenizerKind kind :
       {TokenizerKind::bpe, TokenizerKind::words, TokenizerKind::characters}) {
    VocabularyLearner empty({.kind = kind});
    empty.add("   ");
    EXPECT_THROW(empty.learn(), Error);
  }
}

}  // namespace
}  // namespace tessera::text
