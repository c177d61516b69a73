#include "experiment/contest.h"

#include "corpus/corpus_writer.h"
#include "files/files.h"
#include "seq2seq/tiny_model.h"
#include "support/log_listener.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::experiment {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr size_t kLines = 30;

class ContestOfRows : public testing::Test {
 protected:
  ContestOfRows() {
    make_corpus("corpus", "a b c d e f");
    make_corpus("other", "f e d c b a");
    write("good", "a b c d e f");
    write("bad", "a b c d x y");
  }

  void make_corpus(const std::string& name, const std::string& line) const {
    const auto tokenizer = tessera::test::tiny_tokenizer();
    corpus::CorpusWriter corpus(folder_ / name, tokenizer);
    for (const char* split : {"train", "test"}) {
      corpus.begin_split(split);
      for (size_t k = 0; k < kLines; ++k)
        corpus.add(line, line, tokenizer.encode(line), tokenizer.encode(line));
    }
    corpus.commit({});
  }
  void write(const std::string& name, const std::string& line, size_t lines = kLines) const {
    std::string text;
    for (size_t k = 0; k < lines; ++k) text += (k % 7 == 3 ? "q" : line) + "\n";
    write_file_atomically(folder_ / name, text);
  }
  Evaluated evaluated(const std::string& file, uint64_t seed,
                      const std::string& corpus = "corpus") const {
    return {file, seed, &report_, folder_ / file, folder_ / corpus};
  }

  tessera::test::TemporaryFolder folder_;
  Json report_ = Json::parse(R"({"split":"test","metrics":[{"name":"BLEU","score":1,"signature":
    "nrefs:1|case:mixed|eff:no|tok:none|smooth:exp|version:x"}]})");
  Contests contests_{{.samples = 200, .seed = 3}};
};

TEST_F(ContestOfRows, FindsARealDifference) {
  const std::vector base{evaluated("bad", 1), evaluated("bad", 2), evaluated("bad", 5)};
  const std::vector row{evaluated("good", 1), evaluated("good", 2), evaluated("good", 4)};
  const auto contest = contests_.find("bleu", base, row);
  ASSERT_TRUE(contest.has_value());
  EXPECT_GT(contest->difference, 20);
  EXPECT_LT(contest->p_value, 0.05);
  EXPECT_THAT(contest->seeds, ElementsAre(1, 2)) << "those that both have";
  EXPECT_EQ(contest->lines, kLines);
  EXPECT_EQ(contest->signature,
            "nrefs:1|bs:200|seed:3|case:mixed|eff:no|tok:none|smooth:exp|version:x");
  const auto exact = contests_.find("exact", base, row);
  ASSERT_TRUE(exact.has_value());
  EXPECT_GT(exact->difference, 80);
  EXPECT_EQ(exact->signature, "bs:200|seed:3");
}

TEST_F(ContestOfRows, FindsNothingBetweenEquals) {
  const std::vector same{evaluated("good", 1)};
  const auto contest = contests_.find("bleu", same, same);
  ASSERT_TRUE(contest.has_value());
  EXPECT_EQ(contest->difference, 0);
  EXPECT_EQ(contest->p_value, 1);
}

TEST_F(ContestOfRows, IsNotSurerForSeedsThatSayTheSame) {
  const std::vector base{evaluated("bad", 1), evaluated("bad", 2)};
  const std::vector row{evaluated("good", 1), evaluated("good", 2)};
  for (const char* column : {"bleu", "exact"}) {
    const auto one = contests_.find(column, std::span(base).first(1), std::span(row).first(1));
    const auto two = contests_.find(column, base, row);
    ASSERT_TRUE(one && two);
    EXPECT_EQ(two->difference, one->difference) << column;
    EXPECT_EQ(two->p_value, one->p_value) << column;
  }
}

TEST_F(ContestOfRows, TakesOtherLinesOfAnotherSeedBesideTheFirst) {
  write("good backwards", "f e d c b a");
  write("bad backwards", "y x d c b a");
  const std::vector base{evaluated("bad", 1), evaluated("bad backwards", 2, "other")};
  const std::vector row{evaluated("good", 1), evaluated("good backwards", 2, "other")};
  const auto contest = contests_.find("bleu", base, row);
  ASSERT_TRUE(contest.has_value());
  EXPECT_EQ(contest->lines, 2 * kLines);
}

TEST_F(ContestOfRows, ComparesOnlyWhatBelongsTogether) {
  const std::vector base{evaluated("bad", 1)};
  EXPECT_FALSE(contests_.find("bleu", base, std::vector{evaluated("good", 2)}));
  EXPECT_FALSE(contests_.find("bleu", base, std::vector{evaluated("good", 1, "other")}));
  write("short", "a b c d e f", kLines - 1);
  EXPECT_FALSE(contests_.find("bleu", base, std::vector{evaluated("short", 1)}));
  EXPECT_FALSE(contests_.find("one_step.accuracy", base, std::vector{evaluated("good", 1)}));
  Json other = report_;
  other["metrics"][0]["signature"] = "nrefs:1|case:lc|eff:no|tok:none|smooth:exp|version:x";
  Evaluated lowercase = evaluated("good", 1);
  lowercase.report = &other;
  EXPECT_FALSE(contests_.find("bleu", base, std::vector{lowercase}));
}

TEST_F(ContestOfRows, OfAFileThatIsGoneIsNone) {
  EXPECT_THAT(tessera::test::said([&] {
                EXPECT_FALSE(contests_.find("bleu", std::vector{evaluated("bad", 1)},
                                            std::vector{evaluated("gone", 1)}));
              }),
              HasSubstr("gone"));
}

}  // namespace
}  // namespace tessera::experiment
