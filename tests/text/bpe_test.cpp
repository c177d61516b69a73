#include "text/bpe.h"

#include "files/files.h"
#include "support/temporary_folder.h"
#include "text/fixtures.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <thread>

namespace tessera::text {
namespace {

using test::kTextFixtures;
using testing::HasSubstr;

BpeCodes caption_codes() {
  return BpeCodes::load(kTextFixtures / "captions.codes");
}

// Applies the codes to a whole file. Line ends stay, and a missing last one stays missing.
std::string apply_to_file(const Bpe& bpe, const std::string& name) {
  const std::string text = read_file(kTextFixtures / name);
  std::string applied;
  for (size_t begin = 0; begin < text.size();) {
    const size_t end = text.find('\n', begin);
    bpe.apply(std::string_view(text).substr(begin, end - begin), applied);
    if (end == std::string::npos) break;
    applied += '\n';
    begin = end + 1;
  }
  return applied;
}

std::string error(const std::string& codes) {
  try {
    BpeCodes::parse(codes, "x.codes");
  } catch (const Error& error) {
    return error.what();
  }
  return "no error";
}

TEST(Bpe, AppliesMergesInOrderOfRank) {
  const Bpe bpe(BpeCodes::parse("#version: 0.2\nb c\na b\na bc\nbc d</w>\n", "x"));
  EXPECT_EQ(bpe.apply("abcd"), "abc@@ d") << "bc could go to d as well, but a comes first";
  EXPECT_EQ(bpe.apply("abcabx"), "abc@@ ab@@ x");
  EXPECT_EQ(bpe.apply("bc"), "b@@ c") << "the c at the end is another symbol";
}

TEST(Bpe, MergesRepeatedSymbolsFromTheLeft) {
  const Bpe bpe(BpeCodes::parse("#version: 0.2\na a\n", "x"));
  EXPECT_EQ(bpe.apply("aaaax"), "aa@@ aa@@ x");
  EXPECT_EQ(bpe.apply("aaaaax"), "aa@@ aa@@ a@@ x");
}

TEST(Bpe, KeepsBlanksAtTheEndsAndNoneBetween) {
  const Bpe bpe(caption_codes());
  EXPECT_EQ(bpe.apply("  a   b  "), "  a b  ");
  EXPECT_EQ(bpe.apply("   "), "   ");
  EXPECT_EQ(bpe.apply(""), "");
  EXPECT_EQ(bpe.apply("a \r"), "a \r");
}

// tests/text/fixtures/README.md says how the expected files were made.
TEST(Bpe, EqualsSubwordNmt) {
  EXPECT_EQ(apply_to_file(Bpe(caption_codes()), "unseen.txt"),
            read_file(kTextFixtures / "unseen.bpe"));
}

TEST(Bpe, EqualsSubwordNmtWithFewerMergesAndAnotherSeparator) {
  const Bpe bpe(caption_codes(), {.merges = 40, .separator = "￭"});
  EXPECT_EQ(apply_to_file(bpe, "unseen.txt"), read_file(kTextFixtures / "unseen.40.bpe"));
}

TEST(Bpe, EqualsSubwordNmtWithAVocabulary) {
  const Bpe bpe(caption_codes(),
                {.vocabulary = load_bpe_vocabulary(kTextFixtures / "captions.vocab", 2)});
  EXPECT_EQ(apply_to_file(bpe, "unseen.txt"), read_file(kTextFixtures / "unseen.filtered.bpe"));
}

TEST(Bpe, EqualsSubwordNmtForTheOldFormat) {
  const BpeCodes old = BpeCodes::load(kTextFixtures / "old.codes");
  EXPECT_EQ(old.version, 1);
  EXPECT_EQ(apply_to_file(Bpe(old), "unseen.txt"), read_file(kTextFixtures / "unseen.old.bpe"));
}

TEST(Bpe, GivesTheSameFromTheCacheAndFromSeveralThreads) {
  const Bpe bpe(caption_codes());
  const std::string expected = read_file(kTextFixtures / "unseen.bpe");
  std::vector<std::string> results(4);
  std::vector<std::thread> threads;
  for (std::string& result : results)
    threads.emplace_back([&] {
      for (int k = 0; k < 20; ++k) result = apply_to_file(bpe, "unseen.txt");
    });
  for (std::thread& thread : threads) thread.join();
  for (const std::string& result : results) EXPECT_EQ(result, expected);
}

TEST(Bpe, SplitsVeryLongWords) {
  const Bpe bpe(caption_codes());
  std::string word;
  for (int k = 0; k < 5'000; ++k) word += "über";
  std::vector<std::string_view> pieces;
  bpe.split(word, pieces);
  std::string joined;
  for (const std::string_view piece : pieces) joined += piece;
  EXPECT_EQ(joined, word);
}

TEST(Bpe, WritesItsCodesAsTheyWere) {
  EXPECT_EQ(caption_codes().text(), read_file(kTextFixtures / "captions.codes"));
}

TEST(Bpe, NamesTheLineOfCodesThatIsWrong) {
  EXPECT_THAT(error("#version: 0.2\na b\nabc\n"), HasSubstr("x.codes:3: a line of codes must be"));
  EXPECT_THAT(error("a b c\n"), HasSubstr("x.codes:1: a line of codes must be"));
  EXPECT_THAT(error("a b\n\nc d\n"), HasSubstr("x.codes:2: a line of codes must be"));
  EXPECT_THAT(error("a \xFF\n"), HasSubstr("x.codes:1: invalid UTF-8"));
  EXPECT_THAT(error("#version: 0.3\na b\n"), HasSubstr("x.codes:1: codes of version '0.3'"));
  EXPECT_EQ(error("#version: 0.2\n"), "no error");
}

TEST(Bpe, NamesTheLineOfAVocabularyThatIsWrong) {
  const test::TemporaryFolder folder;
  std::ofstream(folder / "v") << "a 1\nb\n";
  try {
    load_bpe_vocabulary(folder / "v");
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("v:2: a line of a vocabulary must be"));
  }
}

}  // namespace
}  // namespace tessera::text
