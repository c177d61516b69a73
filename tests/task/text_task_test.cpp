#include "task/text_task.h"

#include "corpus/date_pairs.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "task/tiny_text.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::task {
namespace {

using test::complaint;
using testing::AllOf;
using testing::HasSubstr;

class TextTaskTest : public testing::Test {
 protected:
  TextTaskTest() { corpus::make_date_corpus(folder_ / "dates", /*seed=*/1, /*pairs=*/200); }

  TextTask make(const TextOptions& options = test::tiny_text()) const {
    return TextTask(options, corpus::Corpus::open(folder_ / "dates"), /*seed=*/1, at::kCPU);
  }

  test::TemporaryFolder folder_{test::quick_place()};
};

TEST_F(TextTaskTest, BatchesAreFunctionsOfTheirNumber) {
  const TextTask task = make(), other = make();
  const nn::Inputs batch = task.batch(3, 1), again = other.batch(3, 1);
  ASSERT_EQ(batch.size(), again.size());
  for (size_t k = 0; k < batch.size(); ++k) EXPECT_TRUE(at::equal(batch[k], again[k])) << k;
  const nn::Inputs next = task.batch(4, 1);
  EXPECT_FALSE(next[0].sizes() == batch[0].sizes() && at::equal(next[0], batch[0]));
}

TEST_F(TextTaskTest, ScoresAsItsOptionsSay) {
  const struct {
    TextScore score;
    const char* field;
    double factor;
    const char* text;
  } cases[] = {{TextScore::bleu, "valid_bleu", 1, "BLEU 12.35"},
               {TextScore::exact_match, "valid_exact_match", 1, "exact match 12.3 %"},
               {TextScore::loss, "valid_loss", -1, "validation loss -12.3457"}};
  for (const auto& each : cases) {
    TextOptions options = test::tiny_text();
    options.score = each.score;
    TextTask task = make(options);
    const auto found = task.validate(task.model().parameters().values(), 1, [] {});
    EXPECT_EQ(found.score, each.factor * found.line.at(each.field).get<double>()) << each.field;
    EXPECT_EQ(task.score_text(12.3457), each.text);
  }
}

TEST_F(TextTaskTest, IsScoredByItsLossWhereNothingIsGenerated) {
  TextOptions options = test::tiny_text();
  options.validate_sentences = 0;
  TextTask task = make(options);
  const auto found = task.validate(task.model().parameters().values(), 1, [] {});
  EXPECT_FALSE(found.line.contains("valid_bleu"));
  EXPECT_EQ(found.score, -found.line.at("valid_loss").get<double>());
  EXPECT_THAT(task.score_text(-1), HasSubstr("validation loss 1.0"));
}

TEST_F(TextTaskTest, ValidatesOtherWeightsAndPutsItsOwnBack) {
  TextTask task = make();
  const at::Tensor own = task.model().parameters().values().clone();
  const double with_own = task.validate(own, 1, [] {}).line.at("valid_loss");
  const double with_others = task.validate(own * 2, 1, [] {}).line.at("valid_loss");
  EXPECT_NE(with_own, with_others);
  EXPECT_TRUE(at::equal(task.model().parameters().values(), own));
  struct GivenUp {};
  EXPECT_THROW(task.validate(own * 2, 1, [] { throw GivenUp(); }), GivenUp);
  EXPECT_TRUE(at::equal(task.model().parameters().values(), own));
}

TEST_F(TextTaskTest, WritesAModelThatAnotherRunCanBeginWith) {
  const TextTask task = make();
  const at::Tensor weights = task.model().parameters().values() + 1;
  std::filesystem::create_directory(folder_ / "model");
  task.write_model(folder_ / "model", weights, 5);
  const safetensors::File file = make().weights_of(folder_ / "model");
  for (const auto& [name, tensor] : task.model().parameters().named(weights))
    EXPECT_TRUE(at::equal(file.tensor(name), tensor)) << name;
}

TEST_F(TextTaskTest, RefusesWeightsOfAnotherKindOrDictionary) {
  std::filesystem::create_directory(folder_ / "model");
  TextOptions other = test::tiny_text();
  other.model.kind = seq2seq::ModelKind::autoregressive;
  const TextTask autoregressive = make(other);
  autoregressive.write_model(folder_ / "model", autoregressive.model().parameters().values(), 5);
  EXPECT_THROW(make().weights_of(folder_ / "model"), Error);

  test::write_letters(folder_ / "letters", /*valid=*/true);
  const TextTask letters(test::tiny_text(), corpus::Corpus::open(folder_ / "letters"), 1, at::kCPU);
  EXPECT_THAT(complaint([&] { letters.weights_of(folder_ / "model"); }),
              AllOf(HasSubstr("does not fit the corpus"), HasSubstr("--dict")));
}

TEST_F(TextTaskTest, NeedsSentencesToValidateOn) {
  test::write_letters(folder_ / "letters", /*valid=*/false);
  EXPECT_THAT(complaint([&] {
                TextTask(test::tiny_text(), corpus::Corpus::open(folder_ / "letters"), 1, at::kCPU);
              }),
              HasSubstr("--valid"));
}

TEST_F(TextTaskTest, KnowsItsData) {
  const TextTask task = make();
  const auto facts = task.facts();
  ASSERT_EQ(facts.size(), 4u);
  EXPECT_EQ(facts[1].key, "pairs");
  EXPECT_EQ(facts[1].value, 200);
  EXPECT_EQ(facts[2].value, task.batches(0));
  EXPECT_EQ(task.data(), folder_ / "dates");
  EXPECT_EQ(task.unit(), "tokens");
  EXPECT_THAT(task.memory_hint(), HasSubstr("data.tokens (now 256)"));
  EXPECT_THAT(task.next_commands("run")[0], HasSubstr("tessera evaluate run --split test"));
}

}  // namespace
}  // namespace tessera::task
