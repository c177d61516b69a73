#include "seq2seq/reranker.h"

#include "seq2seq/generator.h"
#include "seq2seq/tiny_model.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera::seq2seq {
namespace {

using test::tiny_source;
using testing::HasSubstr;
using testing::ThrowsMessage;

class RerankerTest : public testing::Test {
 protected:
  RerankerTest() { test::write_tiny_model(folder_ / "judge", test::tiny_autoregressive()); }
  const test::TemporaryFolder folder_;
};

TEST_F(RerankerTest, ChoosesWhatTheJudgeFindsLikeliest) {
  const Diffusion points = test::tiny_model();
  const auto symbols = test::tiny_symbols();
  const Reranker judge(folder_ / "judge", test::tiny_dictionary(), at::kCPU,
                       nn::Precision::float32);
  GenerationOptions options = test::tiny_generation();
  options.lengths = 3;
  const std::vector<std::vector<text::Id>> sources{
      tiny_source(5, 1), {text::Dictionary::kEos}, tiny_source(9, 2)};
  for (const Seq2Seq* model : std::initializer_list<const Seq2Seq*>{&points, symbols.get()}) {
    const auto plain = Generator(*model, options).generate(sources);
    const auto judged = Generator(*model, options, &judge).generate(sources);
    for (const size_t k : {size_t{0}, size_t{2}}) {
      ASSERT_EQ(judged[k].candidates.size(), 9u);
      for (size_t c = 0; c < 9; ++c) {
        EXPECT_EQ(judged[k].candidates[c].ids, plain[k].candidates[c].ids);
        EXPECT_FALSE(plain[k].candidates[c].rerank_score.has_value());
        EXPECT_LE(judged[k].candidates[c].rerank_score, judged[k].best().rerank_score);
      }
    }
    EXPECT_TRUE(judged[1].ids().empty());
  }
}

TEST_F(RerankerTest, ReadsAsMuchOfALongSourceAsItHasPositions) {
  Seq2SeqOptions options = test::tiny_options();
  options.kind = ModelKind::autoregressive;
  options.network.positions = 12;
  test::write_tiny_model(folder_ / "short",
                         Autoregressive(options, test::tiny_dictionary().size(), {}, at::kCPU,
                                        nn::Precision::float32, 3));
  const Reranker judge(folder_ / "short", test::tiny_dictionary(), at::kCPU,
                       nn::Precision::float32);
  const auto judged =
      Generator(test::tiny_model(), test::tiny_generation(), &judge).generate({tiny_source(30, 1)});
  EXPECT_TRUE(judged[0].best().rerank_score.has_value());
}

TEST_F(RerankerTest, RefusesModelsThatCannotJudge) {
  test::write_tiny_model(folder_ / "diffusion");
  EXPECT_THAT(
      [&] {
        Reranker(folder_ / "diffusion", test::tiny_dictionary(), at::kCPU, nn::Precision::float32);
      },
      ThrowsMessage<Error>(HasSubstr("is a model of kind 'diffusion'")));
  text::Dictionary other;
  for (char letter = 'z'; letter >= 'a'; --letter) other.add(std::string(1, letter), 100);
  EXPECT_THAT([&] { Reranker(folder_ / "judge", other, at::kCPU, nn::Precision::float32); },
              ThrowsMessage<Error>(HasSubstr("symbol 4 is 'z', there 'a'")));
  EXPECT_THROW(
      Reranker(folder_ / "nothing", test::tiny_dictionary(), at::kCPU, nn::Precision::float32),
      Error);
}

}  // namespace
}  // namespace tessera::seq2seq
