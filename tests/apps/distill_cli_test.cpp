#include "corpus/corpus.h"
#include "corpus/corpus_writer.h"
#include "files/folder_lock.h"
#include "seq2seq/tiny_model.h"
#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <optional>

namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class DistillCommand : public tessera::test::ProgramTest {
 protected:
  DistillCommand() {
    write_corpus("corpus", tessera::test::tiny_tokenizer());
    tessera::test::write_tiny_model(folder_ / "teacher", tessera::test::tiny_autoregressive());
  }

  void write_corpus(const std::string& name, const tessera::text::Tokenizer& tokenizer) const {
    tessera::corpus::CorpusWriter corpus(folder_ / name, tokenizer);
    for (const char* split : {"train", "valid", "test"}) {
      corpus.begin_split(split);
      for (const char* line : {"a b c d e", "f g h", "x", "m n o p", "q r s"})
        corpus.add(line, line, tokenizer.encode(line), tokenizer.encode(line));
    }
    corpus.commit({});
  }

  Result distill(const std::string& arguments) const {
    return run("--device cpu distill teacher --data corpus " + arguments);
  }
};

TEST_F(DistillCommand, WritesACorpusWhoseTrainingTargetsAreTheTeachers) {
  const auto result = distill("--out new --beam 3");
  ASSERT_EQ(result.status, 0) << result.err;
  for (const char* part : {"5 lines", "length ratio", "BLEU|nrefs:1", "identical 0.0 %"})
    EXPECT_THAT(result.out, HasSubstr(part));
  const auto made = tessera::corpus::Corpus::open(folder_ / "new", /*verify_contents=*/true);
  const auto real = tessera::corpus::Corpus::open(folder_ / "corpus");
  EXPECT_EQ(made.split("test").target_lines(), real.split("test").target_lines());
  write("in", "a b c d e\nf g h\nx\nm n o p\nq r s\n");
  const std::string expected = run("--device cpu generate teacher --beam 3 <in").out;
  std::string written;
  for (int64_t k = 0; k < made.split("train").size(); ++k) {
    const auto source = made.split("train").source(k), same = real.split("train").source(k);
    EXPECT_TRUE(std::equal(source.begin(), source.end(), same.begin(), same.end()));
    written += made.tokenizer().decode(made.split("train").target(k)) + "\n";
  }
  EXPECT_EQ(written, expected);
  EXPECT_FALSE(fs::exists(folder_ / "new.partial"));
}

TEST_F(DistillCommand, GoesOnWhereItWasStoppedAndRepeatsNothing) {
  ASSERT_EQ(distill("--out whole --beam 2").status, 0);
  // What a killed distillation leaves after its first lines. These lines are kept.
  const auto key =
      tessera::corpus::Corpus::open(folder_ / "whole").manifest().options.at("distilled");
  fs::create_directories(folder_ / "half.partial");
  write("half.partial/key", key);
  write("half.partial/targets-00000000", "4 5\n6\n7\n8\n9\n");
  ASSERT_EQ(distill("--out half --beam 2").status, 0);
  const auto made = tessera::corpus::Corpus::open(folder_ / "half");
  EXPECT_EQ(made.tokenizer().decode(made.split("train").target(0)), "a b");
  // Lines of another teacher are not kept.
  fs::create_directories(folder_ / "other.partial");
  write("other.partial/key", "another teacher");
  write("other.partial/targets-00000000", "4 5\n6\n7\n8\n9\n");
  const auto result = distill("--out other --beam 2");
  EXPECT_THAT(result.err, HasSubstr("starting again"));
  EXPECT_NE(tessera::test::file_text(folder_ / "other/train.tgt.ids"),
            tessera::test::file_text(folder_ / "half/train.tgt.ids"));
  // A complete corpus is reported, not made again.
  const auto again = distill("--out whole --beam 2");
  EXPECT_EQ(again.status, 0) << again.err;
  EXPECT_THAT(again.out, HasSubstr("5 lines"));
  const auto refused = distill("--out whole --beam 3");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("'whole' holds a corpus of another teacher"));
}

TEST_F(DistillCommand, TakesAFolderWithASlashAndTouchesNoOthers) {
  EXPECT_EQ(distill("--out new/").status, 0);
  EXPECT_TRUE(fs::exists(folder_ / "new" / "manifest.json"));
  fs::create_directory(folder_ / "other.partial");
  write("other.partial/precious", "x");
  const auto refused = distill("--out other");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("but holds other files: move it away"));
  EXPECT_TRUE(fs::exists(folder_ / "other.partial" / "precious"));

  write("other.partial/key", "of my door");
  fs::create_directory_symlink("other.partial", folder_ / "linked.partial");
  EXPECT_THAT(distill("--out linked").err, HasSubstr("is a symbolic link"));
  EXPECT_EQ(tessera::test::file_text(folder_ / "other.partial/key"), "of my door");
}

TEST_F(DistillCommand, IsDoneByOneProcessAtATime) {
  fs::create_directory(folder_ / "new.partial");
  std::optional<tessera::FolderLock> another(std::in_place, folder_ / "new.partial/lock", "", "");
  write("new.partial/targets-00000000", "4 5\n6\n7\n8\n9\n");  // of an unknown teacher
  const auto refused = distill("--out new");
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, HasSubstr("another distillation"));
  another.reset();  // it was stopped
  EXPECT_EQ(distill("--out new").status, 0);
  EXPECT_EQ(distill("--out undisturbed").status, 0);
  EXPECT_EQ(tessera::test::file_text(folder_ / "new/train.tgt.ids"),
            tessera::test::file_text(folder_ / "undisturbed/train.tgt.ids"));
}

TEST_F(DistillCommand, RefusesWhatDoesNotFit) {
  tessera::text::Dictionary other;
  for (const char* symbol : {"a", "b", "c"}) other.add(symbol, 1);
  write_corpus("foreign", tessera::text::Tokenizer::words(other, false));
  const auto result = run("--device cpu distill teacher --data foreign --out new");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("the dictionary has 7 symbols, there 30"));
  EXPECT_FALSE(fs::exists(folder_ / "new"));
  EXPECT_EQ(distill("--out corpus").status, 1);
  EXPECT_EQ(distill("--out new --steps 3").status, 2);  // for another kind of model
  for (const char* overflow :
       {"--length-penalty 100", "--temperature 1e39", "--temperature 1e-40", "--temperature nan"})
    EXPECT_EQ(distill(std::string("--out new ") + overflow).status, 2) << overflow;
  EXPECT_EQ(run("distill nothing --data corpus --out new").status, 1);
  EXPECT_EQ(run("distill teacher --data nothing --out new").status, 1);
}

}  // namespace
