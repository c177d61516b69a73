// tessera bpe, as a person runs it.

#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace {

namespace fs = std::filesystem;
using tessera::test::file_text;
using testing::HasSubstr;

const fs::path kFixtures = fs::path(TESSERA_SOURCE_DIR) / "tests/text/fixtures";

class BpeCli : public tessera::test::ProgramTest {
 protected:
  static std::string fixture(const std::string& name) { return (kFixtures / name).string(); }
};

TEST_F(BpeCli, ExplainsItself) {
  EXPECT_THAT(run("bpe --help").out, HasSubstr("learn"));
  EXPECT_THAT(run("bpe learn --help").out, HasSubstr("--min-frequency"));
  EXPECT_THAT(run("bpe apply --help").out, HasSubstr("--vocabulary-threshold"));
}

TEST_F(BpeCli, LearnsWhatSubwordNmtLearns) {
  const std::string expected = file_text(kFixtures / "captions.codes");
  EXPECT_EQ(run("-q bpe learn --merges 120 " + fixture("captions.txt")).out, expected);
  EXPECT_EQ(run("-q bpe learn --merges 120 <" + fixture("captions.txt")).out, expected);
}

TEST_F(BpeCli, LearnsFromSeveralFilesTogether) {
  write("a", "ab ab\n");
  write("b", "ab cd");
  const auto result = run("bpe learn --merges 5 --min-frequency 3 a b");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "#version: 0.2\na b</w>\n");
  EXPECT_THAT(result.err, HasSubstr("1 merges instead of 5"));
}

TEST_F(BpeCli, AppliesAsSubwordNmtDoes) {
  const std::string codes = "bpe apply --codes " + fixture("captions.codes");
  const std::string text = fixture("unseen.txt");
  EXPECT_EQ(run(codes + " <" + text).out, file_text(kFixtures / "unseen.bpe"));
  EXPECT_EQ(run(codes + " " + text).out, file_text(kFixtures / "unseen.bpe"));
  EXPECT_EQ(run(codes + " --merges 40 --separator ￭ " + text).out,
            file_text(kFixtures / "unseen.40.bpe"));
  EXPECT_EQ(run(codes + " --vocabulary " + fixture("captions.vocab") +
                " --vocabulary-threshold 2 " + text)
                .out,
            file_text(kFixtures / "unseen.filtered.bpe"));
  EXPECT_EQ(run("bpe apply --codes " + fixture("old.codes") + " " + text).out,
            file_text(kFixtures / "unseen.old.bpe"));
}

TEST_F(BpeCli, KeepsLineEndsAsTheyAre) {
  write("in", "a b \r\n\n\nc");
  const auto result = run("bpe apply --codes " + fixture("captions.codes") + " in");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "a b \r\n\n\nc");
}

TEST_F(BpeCli, DoesNotJoinLinesOfTwoFiles) {
  write("a", "a");
  write("b", "b\n");
  EXPECT_EQ(run("bpe apply --codes " + fixture("captions.codes") + " a b").out, "a\nb\n");
}

TEST_F(BpeCli, MakesNothingOfNothing) {
  const auto result = run("bpe apply --codes " + fixture("captions.codes") + " </dev/null");
  EXPECT_EQ(result.status, 0);
  EXPECT_EQ(result.out, "");
  EXPECT_EQ(result.err, "");
}

TEST_F(BpeCli, CannotLearnFromNothing) {
  const auto result = run("bpe learn </dev/null");
  EXPECT_EQ(result.status, 1);
  EXPECT_EQ(result.out, "");
  EXPECT_THAT(result.err, HasSubstr("no words to learn from"));
}

TEST_F(BpeCli, KeepsWhatItHasWhenALaterLineIsBad) {
  write("in", "a b\nc \xFF d\ne\n");
  const std::string apply = "bpe apply --codes " + fixture("captions.codes");
  const auto stopped = run(apply + " in");
  EXPECT_EQ(stopped.status, 1);
  EXPECT_EQ(stopped.out, "a b\n");
  EXPECT_THAT(stopped.err, HasSubstr("in:2: invalid UTF-8 at byte 3"));
  EXPECT_THAT(stopped.err, HasSubstr("hint: --replace-invalid"));
  const auto replaced = run(apply + " --replace-invalid in");
  EXPECT_EQ(replaced.status, 0);
  EXPECT_EQ(replaced.out, "a b\nc \uFFFD d\ne\n");
  const auto from_stdin = run(apply + " <in");
  EXPECT_EQ(from_stdin.status, 1);
  EXPECT_THAT(from_stdin.err, HasSubstr("standard input:2"));
}

TEST_F(BpeCli, NamesTheLineOfNulBytes) {
  write("in", std::string("a\nb\0\n", 5));
  for (const std::string& command :
       {std::string("bpe learn in"), "bpe apply in --codes " + fixture("captions.codes")}) {
    const auto result = run(command);
    EXPECT_EQ(result.status, 1);
    EXPECT_THAT(result.err, HasSubstr("in:2: NUL byte"));
  }
}

TEST_F(BpeCli, FailsWithOneForBadFilesAndTwoForWrongUsage) {
  write("bad", "#version: 0.2\na b c\n");
  EXPECT_EQ(run("bpe learn nowhere.txt").status, 1);
  EXPECT_EQ(run("bpe apply --codes nowhere </dev/null").status, 1);
  const auto bad = run("bpe apply --codes bad </dev/null");
  EXPECT_EQ(bad.status, 1);
  EXPECT_THAT(bad.err, HasSubstr("bad:2:"));
  for (const char* arguments :
       {"bpe", "bpe apply", "bpe learn --merges -1", "bpe learn --min-frequency 0",
        "bpe learn --merges many", "bpe apply --codes bad --vocabulary-threshold 3"}) {
    const auto result = run(std::string(arguments) + " </dev/null");
    EXPECT_EQ(result.status, 2) << arguments;
    EXPECT_EQ(result.out, "") << arguments;
    EXPECT_NE(result.err, "") << arguments;
  }
}

TEST_F(BpeCli, SaysThatItsOutputCannotBeWritten) {
  std::string lines;
  for (int k = 0; k < 100'000; ++k) lines += "some words\n";
  write("in", lines);
  for (const std::string& command :
       {std::string("bpe learn in"), "bpe apply in --codes " + fixture("captions.codes")}) {
    const auto result = run(command, "/dev/full");
    EXPECT_EQ(result.status, 1) << command;
    EXPECT_THAT(result.err, HasSubstr("cannot write to standard output"));
  }
}

TEST_F(BpeCli, StopsWhenNobodyReads) {
  std::string lines;
  for (int k = 0; k < 200'000; ++k) lines += "some words\n";
  write("in", lines);
  write("run", std::string("(") + TESSERA_PROGRAM + " bpe apply in --codes " +
                   fixture("captions.codes") + " 2>error; echo $? >status) | head -1\n");
  ASSERT_EQ(std::system(("cd " + folder_.path().string() + " && sh run >out").c_str()), 0);
  EXPECT_EQ(file_text(folder_ / "status"), "141\n") << "as if SIGPIPE had ended it";
  EXPECT_EQ(file_text(folder_ / "error"), "");
}

}  // namespace
