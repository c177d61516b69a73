#include "corpus/prepare.h"

#include "corpus/corpus.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

namespace tessera::corpus {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

const std::vector<std::string> kGerman{
    "Ein Hund läuft über die Wiese.", "Zwei Hunde spielen im Schnee.",
    "Die Frau liest ein Buch, das rot ist.", "Ein Mann sagt: \"Hallo!\"",
    "Der kleine Hund schläft im Haus."};
const std::vector<std::string> kEnglish{
    "A dog runs across the meadow.", "Two dogs play in the snow.",
    "The woman reads a book that's red.", "A man says: \"Hello!\"",
    "The small dog sleeps in the house."};

class Prepare : public testing::Test {
 protected:
  Prepare() {
    options_.out = folder_ / "corpus";
    options_.vocab = 80;
    options_.splits["train"] = {write("train.de", kGerman), write("train.en", kEnglish)};
  }

  fs::path write(const std::string& name, const std::vector<std::string>& lines) const {
    std::ofstream file(folder_ / name, std::ios::binary);
    for (const std::string& line : lines) file << line << '\n';
    return folder_ / name;
  }

  Corpus prepared() const {
    prepare(options_);
    return Corpus::open(options_.out, true);
  }

  // What prepare() throws: "message / hint".
  std::string error() const {
    try {
      prepare(options_);
    } catch (const Error& failure) {
      return std::string(failure.what()) + " / " + failure.hint();
    }
    return "no error";
  }

  test::TemporaryFolder folder_;
  PrepareOptions options_;
};

TEST_F(Prepare, WarnsOfHeldOutPairsThatAreTrainedOn) {
  options_.splits["test"] = {write("test.de", {"Ein Hund.", kGerman[3], kGerman[1]}),
                             write("test.en", {"A dog.", kEnglish[3], "Not the same."})};
  EXPECT_THAT(test::said([&] { prepare(options_); }),
              HasSubstr("1 of the 3 pairs of test is a training pair too (line 2 is line 4 of"));
  options_.splits["test"] = {write("test.de", {"Ein Hund."}), write("test.en", {"A dog."})};
  options_.replace_corpus = true;
  EXPECT_THAT(test::said([&] { prepare(options_); }), Not(HasSubstr("warn")));
}

TEST_F(Prepare, WarnsOfSwappedColumns) {
  std::vector<std::string> german, english;
  for (int k = 0; k < 5; ++k) {
    german.insert(german.end(), kGerman.begin(), kGerman.end());
    english.insert(english.end(), kEnglish.begin(), kEnglish.end());
  }
  options_.splits["valid"] = {write("val.en", english), write("val.de", german)};
  EXPECT_THAT(test::said([&] { prepare(options_); }),
              HasSubstr("the columns of valid seem to be swapped"));
  options_.splits["valid"] = {write("val.de", german), write("val.en", english)};
  options_.replace_corpus = true;
  EXPECT_THAT(test::said([&] { prepare(options_); }), Not(HasSubstr("swapped")));
}

TEST_F(Prepare, WritesNoSplitBesideItsFolder) {
  options_.splits["../escape"] = options_.splits.at("train");
  EXPECT_THAT(error(), HasSubstr("the name of a split cannot be '../escape'"));
  EXPECT_FALSE(fs::exists(options_.out));
  EXPECT_FALSE(fs::exists(folder_ / "escape.src.ids"));
}

TEST_F(Prepare, MakesIdsThatReadAsTheText) {
  options_.splits["valid"] = {write("val.de", {kGerman[1], kGerman[0]}),
                              write("val.en", {kEnglish[1], kEnglish[0]})};
  const Corpus corpus = prepared();
  const Split& train = corpus.split("train");
  ASSERT_EQ(train.size(), 5);
  EXPECT_LE(corpus.tokenizer().dictionary().size(), 80);
  EXPECT_GT(corpus.tokenizer().dictionary().size(), 70);
  for (int64_t k = 0; k < train.size(); ++k) {
    EXPECT_EQ(corpus.tokenizer().decode(train.source(k)), kGerman[k]);
    EXPECT_EQ(corpus.tokenizer().decode(train.target(k)), kEnglish[k]);
  }
  EXPECT_THAT(corpus.split("valid").source_lines(), ElementsAre(kGerman[1], kGerman[0]));
}

TEST_F(Prepare, StoresTheTokenizerThatMadeTheIds) {
  const Corpus corpus = prepared();
  for (int64_t k = 0; k < corpus.split("train").size(); ++k) {
    std::vector<text::Id> ids = corpus.tokenizer().encode(kGerman[k]);
    ids.push_back(text::Dictionary::kEos);
    EXPECT_THAT(corpus.split("train").source(k), testing::ElementsAreArray(ids));
  }
}

TEST_F(Prepare, GivesEqualCorporaForEqualFiles) {
  const std::string first = prepared().fingerprint();
  options_.out = folder_ / "again";
  EXPECT_EQ(prepared().fingerprint(), first);
  options_.out = folder_ / "other";
  options_.vocab = 70;
  EXPECT_NE(prepared().fingerprint(), first);
}

TEST_F(Prepare, LeavesOutTrainingPairsAndSaysWhy) {
  options_.tokenizer = text::TokenizerKind::words;
  options_.pretokenised = true;
  options_.max_length = 5;
  options_.max_ratio = 2;
  options_.splits["train"] = {write("t.de", {"a b", "", "a b c d", "a b c d e", "a b c", " "}),
                              write("t.en", {"a b", "a", "a b c d", "a b c d", "a", "a"})};
  const Corpus corpus = prepared();
  const SplitCounts& counts = corpus.manifest().splits.at("train");
  EXPECT_EQ(counts.read, 6);
  EXPECT_EQ(counts.kept, 2);
  EXPECT_EQ(counts.empty, 2);
  EXPECT_EQ(counts.too_long, 1);
  EXPECT_EQ(counts.uneven, 1);
  EXPECT_EQ(corpus.split("train").size(), 2);
}

TEST_F(Prepare, KeepsEveryLineOfOtherSplits) {
  options_.max_length = 40;
  std::string long_line;
  for (int k = 0; k < 10000; ++k) long_line += "Hund ";
  options_.splits["test"] = {write("test.de", {"", long_line, kGerman[0]}),
                             write("test.en", {kEnglish[0], "dog", ""})};
  const Corpus corpus = prepared();
  const Split& test = corpus.split("test");
  ASSERT_EQ(test.size(), 3);
  EXPECT_THAT(test.source(0), ElementsAre(text::Dictionary::kEos));
  EXPECT_GE(test.source_length(1), 10001);
  EXPECT_THAT(test.target(2), ElementsAre(text::Dictionary::kEos));
  EXPECT_EQ(test.source_lines()[1], long_line);
}

TEST_F(Prepare, ReadsTabSeparatedPairs) {
  std::vector<std::string> both;
  for (size_t k = 0; k < kGerman.size(); ++k) both.push_back(kGerman[k] + "\t" + kEnglish[k]);
  const std::string expected = prepared().fingerprint();
  options_.out = folder_ / "tsv";
  options_.splits["train"] = {write("train.tsv", both), ""};
  EXPECT_EQ(prepared().fingerprint(), expected);
}

TEST_F(Prepare, TellsWhichLineHasNotTwoColumns) {
  options_.splits["train"] = {write("train.tsv", {"a\tb", "c"}), ""};
  EXPECT_THAT(error(), AllOf(HasSubstr("train.tsv:2: 1 column"), HasSubstr("name both")));
  options_.splits["train"] = {write("train.tsv", {"a\tb", "a\tb\tc"}), ""};
  EXPECT_THAT(error(), HasSubstr("train.tsv:2: 3 columns"));
}

TEST_F(Prepare, TellsBothNumbersOfLinesWhereTheyDiffer) {
  options_.splits["train"].target = write("short.en", {"a", "b", "c"});
  EXPECT_THAT(error(), AllOf(HasSubstr("train.de' has 5 lines"), HasSubstr("short.en' 3")));
  options_.splits["train"] = {write("short.de", {"a", "b", "c"}), folder_ / "train.en"};
  EXPECT_THAT(error(), AllOf(HasSubstr("short.de' has 3 lines"), HasSubstr("train.en' 5")));
  EXPECT_FALSE(fs::exists(options_.out));
}

TEST_F(Prepare, TakesGivenCodesAndDictionary) {
  options_.pretokenised = true;
  options_.codes = write("codes", {"#version: 0.2", "h u", "hu n", "hun d</w>"});
  options_.dictionary =
      write("dict.txt", {"hund 9", "e@@ 5", "i@@ 5", "n 4", "d@@ 3", "o@@ 2", "g 2"});
  options_.splits["train"] = {write("t.de", {"ein hund"}), write("t.en", {"dog"})};
  const Corpus corpus = prepared();
  EXPECT_THAT(corpus.split("train").source(0), ElementsAre(5, 6, 7, 4, text::Dictionary::kEos));
  EXPECT_THAT(corpus.split("train").target(0), ElementsAre(8, 9, 10, text::Dictionary::kEos));
  EXPECT_EQ(corpus.tokenizer().pieces(corpus.split("train").source(0)), "e@@ i@@ n hund");
}

TEST_F(Prepare, CountsADictionaryForGivenCodes) {
  options_.pretokenised = true;
  options_.vocab = 0;
  options_.codes = write("codes", {"#version: 0.2", "h u", "hu n", "hun d</w>"});
  options_.splits["train"] = {write("t.de", {"ein hund"}), write("t.en", {"dog"})};
  const Corpus corpus = prepared();
  EXPECT_EQ(corpus.tokenizer().pieces(corpus.split("train").source(0)), "e@@ i@@ n hund");
  EXPECT_EQ(corpus.tokenizer().dictionary().size(), text::Dictionary::kSpecials + 7);
}

TEST_F(Prepare, RefusesADictionaryThatDoesNotFitTheText) {
  options_.pretokenised = true;
  options_.codes = write("codes", {"#version: 0.2", "h u"});
  options_.dictionary = write("dict.txt", {"quite 9", "other 5", "words 5"});
  EXPECT_THAT(error(), AllOf(HasSubstr("dict.txt"), HasSubstr("not in the dictionary"),
                             HasSubstr("--pretokenised")));
  EXPECT_FALSE(fs::exists(options_.out));
}

TEST_F(Prepare, RefusesOptionsThatContradictEachOther) {
  const auto is_usage_error = [](const PrepareOptions& options) {
    try {
      prepare(options);
    } catch (const UsageError&) {
      return true;
    }
    return false;
  };
  const auto changed = [&](auto change) {
    PrepareOptions options = options_;
    change(options);
    return options;
  };
  const fs::path file = folder_ / "train.de";
  EXPECT_TRUE(is_usage_error(changed([](auto& o) { o.splits.clear(); })));
  EXPECT_TRUE(is_usage_error(changed([](auto& o) { o.vocab = 4; })));
  EXPECT_TRUE(is_usage_error(changed([](auto& o) { o.vocab = 0; })));
  EXPECT_TRUE(is_usage_error(changed([](auto& o) { o.vocab = 20; }))) << "fewer than characters";
  EXPECT_TRUE(is_usage_error(changed([](auto& o) { o.max_length = 1; })));
  EXPECT_TRUE(is_usage_error(changed([](auto& o) { o.max_ratio = 0.5; })));
  EXPECT_TRUE(is_usage_error(changed([&](auto& o) { o.dictionary = file; })));
  EXPECT_TRUE(is_usage_error(changed([&](auto& o) {
    o.tokenizer = text::TokenizerKind::words;
    o.codes = file;
  })));
  EXPECT_TRUE(is_usage_error(changed([](auto& o) { o.splits["train"].source = "-"; })));
  EXPECT_FALSE(fs::exists(options_.out));
}

TEST_F(Prepare, SaysWhereNothingIsLeft) {
  options_.max_length = 2;
  EXPECT_THAT(error(), AllOf(HasSubstr("no pair of"), HasSubstr("5 too long")));
}

TEST_F(Prepare, SplitsIntoWordsAndCharactersToo) {
  options_.vocab = 1000;
  for (const text::TokenizerKind kind :
       {text::TokenizerKind::words, text::TokenizerKind::characters}) {
    options_.tokenizer = kind;
    options_.out = folder_ / std::string(name_of(kind));
    const Corpus corpus = prepared();
    for (int64_t k = 0; k < 5; ++k)
      EXPECT_EQ(corpus.tokenizer().decode(corpus.split("train").target(k)), kEnglish[k]);
  }
}

}  // namespace
}  // namespace tessera::corpus
