#include <tessera/evaluation/distillation.h>

#include "corpus/corpus.h"
#include "evaluation/distilled_corpus.h"
#include "evaluation/made_corpus.h"
#include "seq2seq/tiny_model.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>

namespace tessera {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

using Ids = std::vector<text::Id>;
using Pairs = std::vector<std::pair<std::string, std::string>>;

const Pairs kPairs{{"a b c d e", "e d c b a"}, {"f g h", "f g h"}, {"x", "y"}};

// Each source in reverse, without the end symbol; nothing for a single word.
std::vector<Ids> reversed(const std::vector<Ids>& sources, int64_t /*first_line*/) {
  std::vector<Ids> targets;
  for (const Ids& source : sources) {
    targets.emplace_back(source.rbegin() + 1, source.rend());
    if (targets.back().size() == 1) targets.back().clear();
  }
  return targets;
}

class DistillationTest : public testing::Test {
 protected:
  DistillationTest() { write_corpus("corpus", kPairs); }

  void write_corpus(const std::string& name, const Pairs& pairs) const {
    test::write_made_corpus(folder_ / name, test::tiny_tokenizer(), pairs);
  }
  corpus::Corpus open(const std::string& name) const {
    return corpus::Corpus::open(folder_ / name);
  }

  static std::vector<std::string> targets(const corpus::Corpus& corpus) {
    std::vector<std::string> lines;
    const corpus::Split& split = corpus.split("train");
    for (int64_t k = 0; k < split.size(); ++k)
      lines.push_back(corpus.tokenizer().decode(split.target(k)));
    return lines;
  }

  test::TemporaryFolder folder_{test::quick_place()};
};

TEST_F(DistillationTest, CarriesTheLanguagesOn) {
  test::write_made_corpus(folder_ / "german", test::tiny_tokenizer(), kPairs, {"de", "en"});
  evaluation::write_distilled(open("german"), reversed, "key", folder_ / "new", {});
  EXPECT_EQ(open("new").manifest().languages, (Languages{"de", "en"}));
  evaluation::write_distilled(open("corpus"), reversed, "key", folder_ / "unknown", {});
  EXPECT_FALSE(open("unknown").manifest().languages.known());
}

TEST_F(DistillationTest, PutsTheTeachersTargetsInThePlaceOfThoseOfTraining) {
  const corpus::Corpus real = open("corpus");
  int64_t done = 0;
  const DistillationReport report = evaluation::write_distilled(
      real, reversed, "key", folder_ / "new", [&](int64_t more) { done += more; });
  EXPECT_EQ(done, 3);
  const corpus::Corpus made = open("new");
  EXPECT_THAT(targets(made), ElementsAre("e d c b a", "h g f"));
  for (const char* split : {"valid", "test"}) {
    EXPECT_EQ(made.split(split).source_lines(), real.split(split).source_lines());
    EXPECT_EQ(made.split(split).target_lines(), real.split(split).target_lines());
  }
  EXPECT_EQ(report.lines, 3);
  EXPECT_EQ(report.left_out, 1) << "x, of which nothing was made";
  EXPECT_DOUBLE_EQ(report.identical, 1. / 3);
  EXPECT_DOUBLE_EQ(report.length_ratio, (6 + 4 + 1) / (6 + 4 + 2.));
  // N-grams that match: 8 of 8 words, 4 of 6 pairs, 3 of 4 triples, 2 of 2 of four words. The
  // lengths are 8 and 9 words.
  EXPECT_NEAR(report.bleu, 100 * std::pow(1. * 4 / 6 * 3 / 4 * 2 / 2, 0.25) * std::exp(1 - 9. / 8),
              1e-9);
  EXPECT_THAT(report.bleu_line, HasSubstr("BLEU|nrefs:1"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.partial"));
}

TEST_F(DistillationTest, ReportsACompleteCorpusWithoutMakingItAgain) {
  const corpus::Corpus real = open("corpus");
  const auto first = evaluation::write_distilled(real, reversed, "key", folder_ / "new");
  const evaluation::Teacher never = [](const auto&, int64_t) -> std::vector<Ids> {
    throw std::logic_error("it was asked again");
  };
  const auto again = evaluation::write_distilled(real, never, "key", folder_ / "new");
  EXPECT_EQ(again.lines, first.lines);
  EXPECT_EQ(again.left_out, first.left_out);
  EXPECT_EQ(again.length_ratio, first.length_ratio);
  EXPECT_EQ(again.bleu, first.bleu);
  EXPECT_EQ(again.identical, first.identical);
  EXPECT_THAT(test::complaint([&] {
                evaluation::write_distilled(real, never, "another key", folder_ / "new");
              }),
              HasSubstr("holds a corpus of another teacher"));
}

TEST_F(DistillationTest, IsMadeInSharesAndPutTogether) {
  write_corpus("long", Pairs(9000, {"a b c", "c b a"}));
  const corpus::Corpus real = open("long");
  std::vector<int64_t> asked;
  const evaluation::Teacher teacher = [&](const std::vector<Ids>& sources, int64_t first) {
    asked.push_back(first);
    return reversed(sources, first);
  };
  const auto share = [&](const std::string& text) {
    return evaluation::write_distilled_share(real, teacher, "key", folder_ / "new",
                                             Shard::parse(text));
  };
  EXPECT_EQ(share("2/2"), 4096);
  EXPECT_THAT(test::complaint([&] {
                evaluation::write_distilled_share(real, teacher, "another", folder_ / "new",
                                                  Shard::parse("1/2"));
              }),
              HasSubstr("by another teacher"));
  EXPECT_EQ(share("1/2"), 4096 + 808);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
  EXPECT_THAT(asked, ElementsAre(4096, 0, 8192));
  EXPECT_EQ(evaluation::write_distilled(real, teacher, "key", folder_ / "new").lines, 9000);
  EXPECT_EQ(asked.size(), 3) << "nothing was made twice";
  EXPECT_EQ(targets(open("new")).size(), 9000);
  EXPECT_EQ(share("1/2"), 0) << "the corpus is complete";
}

TEST_F(DistillationTest, GoesOnAfterTheLastLinesThatWereWhole) {
  write_corpus("long", Pairs(5000, {"a b", "b a"}));
  const corpus::Corpus real = open("long");
  std::vector<int64_t> asked;
  const auto failing_at = [&](int64_t line) -> evaluation::Teacher {
    return [&asked, line](const std::vector<Ids>& sources, int64_t first) {
      if (first == line) throw std::runtime_error("no current");
      asked.push_back(first);
      return reversed(sources, first);
    };
  };
  const auto write = [&](int64_t failing, const std::string& key) {
    return evaluation::write_distilled(real, failing_at(failing), key, folder_ / "new");
  };
  EXPECT_THROW(write(4096, "key"), std::runtime_error);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
  EXPECT_EQ(write(-1, "key").lines, 5000);
  EXPECT_THAT(asked, ElementsAre(0, 4096)) << "the first lines were kept";
  EXPECT_EQ(targets(open("new"))[4999], "b a");
}

TEST_F(DistillationTest, BeginsAnewWithAnotherTeacher) {
  write_corpus("long", Pairs(5000, {"a b", "b a"}));
  const corpus::Corpus real = open("long");
  const evaluation::Teacher broken = [](const std::vector<Ids>& sources, int64_t first) {
    if (first > 0) throw std::runtime_error("no current");
    return sources;  // which would be wrong
  };
  EXPECT_THROW(evaluation::write_distilled(real, broken, "one", folder_ / "new"),
               std::runtime_error);
  test::said([&] { evaluation::write_distilled(real, reversed, "two", folder_ / "new"); });
  EXPECT_EQ(targets(open("new"))[0], "b a");
}

class TeacherTest : public DistillationTest {
 protected:
  TeacherTest() { test::write_tiny_model(folder_ / "teacher", test::tiny_autoregressive()); }

  const Engine& teacher() {
    if (!engine_) engine_.emplace(folder_ / "teacher", LoadOptions{.device = "cpu"});
    return *engine_;
  }

 private:
  std::optional<Engine> engine_;
};

TEST_F(TeacherTest, WritesWhatAnEngineWrites) {
  const GenerateOptions beam{.beam = 3};
  const DistillationReport report =
      distill(teacher(), folder_ / "corpus", folder_ / "new", {.generation = beam});
  std::vector<TextRequest> requests;
  for (const auto& [source, target] : kPairs) requests.push_back({.text = source, .options = beam});
  std::vector<std::string> expected;
  for (const TextResult& result : teacher().run(requests))
    if (!result.text.empty()) expected.push_back(result.text);
  EXPECT_EQ(targets(open("new")), expected);
  EXPECT_EQ(report.lines, 3);
  EXPECT_EQ(report.left_out, 3 - std::ssize(expected));

  const auto again = distill(teacher(), folder_ / "corpus", folder_ / "new",
                             {.generation = {.beam = 3, .batch_tokens = 100}});
  EXPECT_EQ(again.bleu, report.bleu) << "the size of batches changes nothing";
  EXPECT_THAT(test::complaint([&] {
                distill(teacher(), folder_ / "corpus", folder_ / "new",
                        {.generation = {.beam = 2}});
              }),
              HasSubstr("holds a corpus of another teacher"));
}

TEST_F(TeacherTest, MayWriteByDiffusionOfSymbols) {
  test::write_tiny_model(folder_ / "masks", *test::tiny_symbols());
  const Engine engine(folder_ / "masks", LoadOptions{.device = "cpu"});
  const GenerateOptions options{.steps = 3, .lengths = 2, .noises = 2};
  distill(engine, folder_ / "corpus", folder_ / "new", {.generation = options, .seed = 5});
  std::vector<TextRequest> requests;
  for (const auto& [source, target] : kPairs)
    requests.push_back({.text = source, .seed = 5, .options = options});
  std::vector<std::string> expected;
  for (const TextResult& result : engine.run(requests))
    if (!result.text.empty()) expected.push_back(result.text);
  EXPECT_EQ(targets(open("new")), expected);
  EXPECT_THAT(test::complaint([&] {
                distill(engine, folder_ / "corpus", folder_ / "new",
                        {.generation = options, .seed = 6});
              }),
              HasSubstr("holds a corpus of another teacher"));
}

TEST_F(TeacherTest, NoCorpusOfAnotherDictionaryAndNoOptionOfAnotherKind) {
  text::Dictionary backwards;
  for (char letter = 'z'; letter >= 'a'; --letter) backwards.add(std::string(1, letter), 100);
  test::write_made_corpus(folder_ / "other", text::Tokenizer::words(backwards, false), kPairs);
  EXPECT_THAT(test::complaint([&] { distill(teacher(), folder_ / "other", folder_ / "new"); }),
              HasSubstr("does not fit the corpus"));
  EXPECT_THROW(
      distill(teacher(), folder_ / "corpus", folder_ / "new", {.generation = {.steps = 3}}),
      UsageError);
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new.partial"));
}

TEST_F(TeacherTest, CanBeStoppedAndGoesOn) {
  std::stop_source stop;
  stop.request_stop();
  EXPECT_THAT(test::complaint([&] {
                distill(teacher(), folder_ / "corpus", folder_ / "new", {.stop = stop.get_token()});
              }),
              HasSubstr("stopped"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "new"));
  EXPECT_EQ(distill(teacher(), folder_ / "corpus", folder_ / "new").lines, 3);
}

}  // namespace
}  // namespace tessera
