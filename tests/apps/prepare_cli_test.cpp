#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr const char* kGerman =
    "Ein Hund läuft über die Wiese.\nZwei Hunde spielen im Schnee.\nDie Frau liest ein Buch.\n";
constexpr const char* kEnglish =
    "A dog runs across the meadow.\nTwo dogs play in the snow.\nThe woman reads a book.\n";

class PrepareCli : public tessera::test::ProgramTest {
 protected:
  PrepareCli() {
    write("train.de", kGerman);
    write("train.en", kEnglish);
  }

  static constexpr const char* kTrain = "prepare --train train.de train.en --vocab 80 --out c ";

  // Expects the run to end with `status` and this error message, and to write no corpus.
  void expect_error(const std::string& arguments, int status,
                    const testing::Matcher<const std::string&>& message) const {
    expect_failure(arguments, status, message);
    EXPECT_FALSE(fs::exists(folder_ / "c")) << arguments;
  }
};

TEST_F(PrepareCli, MakesACorpusAndPrintsItsFolder) {
  const auto result =
      run(std::string(kTrain) + "--valid train.de train.en --test train.de train.en");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "c\n");
  EXPECT_THAT(result.err,
              AllOf(HasSubstr("too long"), HasSubstr("valid"), HasSubstr("dictionary")));
  for (const char* file : {"manifest.json", "tokenizer.json", "dict.txt", "codes.bpe",
                           "train.src.ids", "train.tgt.offsets", "valid.src.txt", "test.tgt.txt"})
    EXPECT_TRUE(fs::exists(folder_ / "c" / file)) << file;
}

TEST_F(PrepareCli, ReportsInJson) {
  const auto result = run(std::string("--json --quiet ") + kTrain);
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const nlohmann::json report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["folder"], "c");
  EXPECT_EQ(report["splits"]["train"]["read"], 3);
  EXPECT_EQ(report["splits"]["train"]["kept"], 3);
  EXPECT_EQ(report["options"]["tokenizer"], "bpe");
  EXPECT_LE(report["symbols"], 80);
}

TEST_F(PrepareCli, MakesTheTinyCorpus) {
  const auto result = run("--json prepare --tiny --pairs 100 --out c");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["splits"]["train"]["kept"], 100);
  EXPECT_THAT(tessera::test::file_text(folder_ / "c/test.tgt.txt"), HasSubstr("-"));
}

TEST_F(PrepareCli, ReplacesACorpusOnlyWhenForced) {
  ASSERT_EQ(run(kTrain).status, 0);
  const auto refused = run(kTrain);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("'c' exists"), HasSubstr("--force")));
  const auto forced = run(std::string(kTrain) + "--force --tokenizer characters");
  EXPECT_EQ(forced.status, 0) << forced.err;
  EXPECT_FALSE(fs::exists(folder_ / "c/codes.bpe"));
}

TEST_F(PrepareCli, NeverRemovesWhatOthersPutIntoACorpus) {
  ASSERT_EQ(run(kTrain).status, 0);
  write("c/mine.de", kGerman);
  expect_failure("prepare --train c/mine.de train.en --vocab 80 --out c --force", 1,
                 HasSubstr("holds 'mine.de'"));
  EXPECT_TRUE(fs::exists(folder_ / "c/mine.de"));
}

TEST_F(PrepareCli, ReadsNoPipeForItWouldReadItTwice) {
  const fs::path pipe = folder_ / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  expect_error("prepare --train train.de train.en --valid pipe train.en --vocab 80 --out c", 2,
               HasSubstr("'pipe' cannot be the split valid"));
}

TEST_F(PrepareCli, NeverReplacesAFolderThatIsNoCorpus) {
  fs::create_directory(folder_ / "mine");
  write("mine/letter", "dear");
  const auto result = run("prepare --tiny --out mine --force");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("not a corpus"));
  EXPECT_TRUE(fs::exists(folder_ / "mine/letter"));
}

TEST_F(PrepareCli, EndsWithTwoForWrongUsage) {
  expect_error("prepare", 2, HasSubstr("--out"));
  expect_error("prepare --out c", 2, HasSubstr("no files"));
  expect_error("prepare --tiny --train train.de train.en --out c", 2, HasSubstr("--tiny"));
  expect_error("prepare --valid train.de train.en --out c", 2, HasSubstr("training files"));
  expect_error(std::string(kTrain) + "--tokenizer bep", 2, HasSubstr("did you mean 'bpe'"));
  expect_error("prepare --train train.de train.en train.fr --out c", 2, HasSubstr("train"));
}

TEST_F(PrepareCli, TellsWhichFileIsMissing) {
  expect_error("prepare --train nowhere.de train.en --out c", 1, HasSubstr("nowhere.de"));
  // Reported before the work on the training files, not after it.
  expect_error(std::string("--quiet ") + kTrain + "--test train.de nowhere.en", 1,
               HasSubstr("nowhere.en"));
  expect_error(std::string(kTrain) + "--codes nowhere.bpe", 1, HasSubstr("nowhere.bpe"));
  expect_error(std::string(kTrain) + "--codes train.de --dict nowhere.txt", 1,
               HasSubstr("nowhere.txt"));
}

TEST_F(PrepareCli, TellsFilesOfDifferentLength) {
  write("short.en", "A dog.\nTwo dogs.\n");
  expect_error("prepare --train train.de short.en --vocab 80 --out c", 1,
               AllOf(HasSubstr("'train.de' has 3 lines"), HasSubstr("'short.en' 2")));
}

TEST_F(PrepareCli, TellsWhereTextIsNotUtf8) {
  write("bad.en", "A dog.\nTwo \xff dogs.\nThe woman.\n");
  expect_error("prepare --train train.de bad.en --vocab 80 --out c", 1,
               AllOf(HasSubstr("bad.en:2"), HasSubstr("--replace-invalid")));
  EXPECT_EQ(run("prepare --train train.de bad.en --vocab 80 --replace-invalid --out c").status, 0);
}

TEST_F(PrepareCli, TellsWhereNulBytesAre) {
  write("bad.en", std::string("A dog.\nTwo dogs.\nThe \0 woman.\n", 30));
  expect_error("prepare --train train.de bad.en --vocab 80 --out c", 1,
               AllOf(HasSubstr("bad.en:3"), HasSubstr("NUL")));
  EXPECT_EQ(run("prepare --train train.de bad.en --vocab 80 --replace-invalid --out c").status, 0);
}

TEST_F(PrepareCli, RefusesEmptyFiles) {
  write("empty.de", "");
  write("empty.en", "");
  expect_error("prepare --train empty.de empty.en --out c", 1, HasSubstr("'empty.de' is empty"));
  write("blank.de", "\n\n");
  write("blank.en", "\n\n");
  expect_error("prepare --train blank.de blank.en --out c", 1, HasSubstr("no text"));
}

TEST_F(PrepareCli, CountsEmptyAndLongLines) {
  std::string long_line;
  for (int k = 0; k < 10000; ++k) long_line += "Hund ";
  write("more.de", std::string(kGerman) + "\n" + long_line + "\nEin Hund.\n");
  write("more.en", std::string(kEnglish) + "A dog.\nA dog.\n\n");
  const auto result = run("--json prepare --train more.de more.en --vocab 80 --out c");
  ASSERT_EQ(result.status, 0) << result.err;
  const nlohmann::json train = nlohmann::json::parse(result.out)["splits"]["train"];
  EXPECT_EQ(train["read"], 6);
  EXPECT_EQ(train["kept"], 3);
  EXPECT_EQ(train["left_out"]["empty"], 2);
  EXPECT_EQ(train["left_out"]["too_long"], 1);
}

TEST_F(PrepareCli, TakesALastLineWithoutNewline) {
  write("open.de", "Ein Hund läuft.\nZwei Hunde.");
  write("open.en", "A dog runs.\nTwo dogs.\n");
  const auto result = run("--json prepare --train open.de open.en --vocab 80 --out c");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(nlohmann::json::parse(result.out)["splits"]["train"]["kept"], 2);
}

TEST_F(PrepareCli, RefusesCodesAndDictionariesThatDoNotFit) {
  write("codes", "#version: 0.2\nh u\nhu n\n");
  write("dict.txt", "ganz 3\nandere 2\nwörter 1\n");
  expect_error(std::string(kTrain) + "--codes codes --dict dict.txt", 1,
               AllOf(HasSubstr("not in the dictionary"), HasSubstr("dict.txt")));
  write("dict.txt", "no-count-here\n");
  expect_error(std::string(kTrain) + "--codes codes --dict dict.txt", 1, HasSubstr("dict.txt:1"));
  write("codes", "#version: 0.2\nonly-one\n");
  expect_error(std::string(kTrain) + "--codes codes", 1, HasSubstr("codes:2"));
  expect_error(std::string(kTrain) + "--dict dict.txt", 2, HasSubstr("codes"));
}

}  // namespace
