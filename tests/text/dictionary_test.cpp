#include "text/dictionary.h"

#include "files/files.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace tessera::text {
namespace {

using testing::HasSubstr;

class DictionaryTest : public testing::Test {
 protected:
  std::filesystem::path write(const std::string& text) const {
    std::ofstream(folder_ / "dict.txt", std::ios::binary) << text;
    return folder_ / "dict.txt";
  }
  std::string error(const std::string& text) const {
    try {
      Dictionary::load(write(text));
    } catch (const Error& error) {
      return error.what();
    }
    return "no error";
  }
  test::TemporaryFolder folder_;
};

TEST_F(DictionaryTest, BeginsWithTheSpecialsOfFairseq) {
  const Dictionary dictionary;
  EXPECT_EQ(dictionary.size(), 4);
  EXPECT_EQ(dictionary.symbol(Dictionary::kBos), "<s>");
  EXPECT_EQ(dictionary.symbol(Dictionary::kPad), "<pad>");
  EXPECT_EQ(dictionary.symbol(Dictionary::kEos), "</s>");
  EXPECT_EQ(dictionary.symbol(Dictionary::kUnk), "<unk>");
}

TEST_F(DictionaryTest, ReadsAndWritesItsFile) {
  const std::string text = "der 10\n, 9\nkle@@ 3\nmadeupword0000 0\n";
  const Dictionary dictionary = Dictionary::load(write(text));
  EXPECT_EQ(dictionary.size(), 8);
  EXPECT_EQ(dictionary.id("kle@@"), 6);
  EXPECT_EQ(dictionary.count(6), 3);
  EXPECT_EQ(dictionary.id("nowhere"), Dictionary::kUnk);
  dictionary.save(folder_ / "again.txt");
  EXPECT_EQ(read_file(folder_ / "again.txt"), text);
}

TEST_F(DictionaryTest, SortsByCountThenBySymbol) {
  const Dictionary dictionary =
      Dictionary::from_counts({{"b", 2}, {"a", 2}, {"c", 7}, {"d", 1}, {"</s>", 100}}, 7);
  ASSERT_EQ(dictionary.size(), 7);
  EXPECT_EQ(dictionary.symbol(4), "c");
  EXPECT_EQ(dictionary.symbol(5), "a");
  EXPECT_EQ(dictionary.symbol(6), "b");
}

TEST_F(DictionaryTest, AddsToSymbolsThatAreThere) {
  Dictionary dictionary;
  EXPECT_EQ(dictionary.add("x", 2), 4);
  EXPECT_EQ(dictionary.add("x", 3), 4);
  EXPECT_EQ(dictionary.count(4), 5);
}

TEST_F(DictionaryTest, NamesTheLineThatIsWrong) {
  EXPECT_THAT(error("a 1\nb\n"), HasSubstr("dict.txt:2: a line must be 'symbol count', got 'b'"));
  EXPECT_THAT(error("a 1\nb x\n"), HasSubstr("dict.txt:2: a line must be"));
  EXPECT_THAT(error("a 1\nb -4\n"), HasSubstr("dict.txt:2: a line must be"));
  EXPECT_THAT(error("a 1\n\n"), HasSubstr("dict.txt:2: a line must be"));
  EXPECT_THAT(error("a 1\nb 1\na 1\n"), HasSubstr("dict.txt:3: 'a' is in the dictionary twice"));
  EXPECT_THAT(error("a 1\n<pad> 1\n"), HasSubstr("dict.txt:2: '<pad>' is a special symbol"));
  EXPECT_THAT(error(""), HasSubstr("is empty"));
  EXPECT_THAT(error("a 1\n\xFF 2\n"), HasSubstr("dict.txt:2: invalid UTF-8"));
}

TEST_F(DictionaryTest, ObeysFairseqsOverwriteFlag) {
  const std::string text = "a 1\n<s> 2 #fairseq:overwrite\na 3 #fairseq:overwrite\n";
  const Dictionary dictionary = Dictionary::load(write(text));
  EXPECT_EQ(dictionary.size(), 7);
  EXPECT_EQ(dictionary.id("<s>"), 5);
  EXPECT_EQ(dictionary.id("a"), 6);
  dictionary.save(folder_ / "again.txt");
  EXPECT_EQ(read_file(folder_ / "again.txt"), text);
}

TEST_F(DictionaryTest, RefusesNumbersItDoesNotHave) {
  EXPECT_THROW(Dictionary().symbol(4), Error);
  EXPECT_THROW(Dictionary().symbol(-1), Error);
}

}  // namespace
}  // namespace tessera::text
