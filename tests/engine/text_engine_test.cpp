#include <tessera/engine/engine.h>

#include "seq2seq/tiny_model.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <thread>

namespace tessera {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

using Requests = std::vector<TextRequest>;

class TextEngineTest : public testing::Test {
 protected:
  TextEngineTest() {
    test::write_tiny_model(parent_ / "model");
    test::write_tiny_model(parent_ / "judge", test::tiny_autoregressive());
    test::write_tiny_model(parent_ / "symbols", *test::tiny_symbols());
  }

  Engine engine(const std::string& name = "model") const {
    return Engine(parent_ / name, {.device = "cpu"});
  }

  test::TemporaryFolder parent_;
};

void expect_same(const TextResult& one, const TextResult& other) {
  ASSERT_EQ(one.outcome, Outcome::done);
  ASSERT_EQ(other.outcome, Outcome::done);
  EXPECT_EQ(one.text, other.text);
  EXPECT_EQ(one.chosen, other.chosen);
  ASSERT_EQ(one.candidates.size(), other.candidates.size());
  for (size_t k = 0; k < one.candidates.size(); ++k) {
    EXPECT_EQ(one.candidates[k].text, other.candidates[k].text);
    EXPECT_NEAR(one.candidates[k].confidence, other.candidates[k].confidence, 1e-4);
  }
}

// Options that use everything random in a model: noise between steps, drawn lengths and symbols.
const GenerateOptions kDrawn{.sampler = "gaussian", .candidates = "2x2", .length_choice = "draw"};
const GenerateOptions kDrawnSymbols{.candidates = "2x2", .length_choice = "draw", .temperature = 1};
const GenerateOptions kDrawnFromLeftToRight{.beam = 3, .temperature = 1.0};

TEST_F(TextEngineTest, ATextHasTheSameCandidatesAnywhereInACall) {
  for (const auto& [name, options] :
       {std::pair("model", kDrawn), std::pair("judge", kDrawnFromLeftToRight),
        std::pair("symbols", kDrawnSymbols)}) {
    const Engine ours = engine(name);
    Requests requests;
    for (const char* text : {"a b c", "z y x w v u t", "a b c", "q w e r t y", "a b c"})
      requests.push_back({.text = text, .seed = 7, .options = options});
    const auto together = ours.run(requests);
    expect_same(together[0], together[2]);
    expect_same(together[0], together[4]);
    expect_same(together[0], ours.run(Requests{requests[0]})[0]);
    expect_same(together[3], ours.run(Requests{requests[1], requests[3]})[1]);
  }
}

// Recorded with version 0.1.0, where noise always depended on the line number: --seed 7, with
// "a b c" as the first and as the fourth line.
TEST_F(TextEngineTest, NoiseOfLinesIsThatOfVersion01) {
  using Candidates = std::vector<std::pair<std::string, double>>;
  struct Recorded {
    const char* model;
    GenerateOptions options;
    Candidates first, fourth;
  };
  const Recorded recorded[] = {{"model",
                                kDrawn,
                                {{"s l s l l r r r e r l l r l l r l r l r r l", -1.673302},
                                 {"r r r e l l i r l l e l l r l l r l s l l r", -1.716416},
                                 {"l r s e", -1.774810},
                                 {"r r r l", -1.621913}},
                                {{"l r r l r", -1.636641},
                                 {"l r r l l", -1.637944},
                                 {"r r r", -1.674949},
                                 {"l r r", -1.573885}}},
                               {"judge",
                                kDrawnFromLeftToRight,
                                {{"p a d a", -2.197969},
                                 {"w f z c g s a f", -2.692876},
                                 {"r u s u z u j h f c m b u h j i c m y j c i j", -3.019239}},
                                {{"i a b y s q b u p q r c s f s a j g i z z s q", -2.425833},
                                 {"p q f p a k w a y e x w q e a y g z m u w l n", -2.492911},
                                 {"j s q p a b h s s a d x d v j s l b y j w s a", -2.516383}}}};
  for (const Recorded& expected : recorded) {
    GenerateOptions options = expected.options;
    options.noise = "lines";
    Requests requests;
    for (const char* text : {"a b c", "z y x w v u t", "", "a b c"})
      requests.push_back({.text = text, .seed = 7, .options = options});
    const auto check = [](const TextResult& result, const Candidates& candidates) {
      ASSERT_EQ(result.candidates.size(), candidates.size());
      for (size_t k = 0; k < candidates.size(); ++k) {
        EXPECT_EQ(result.candidates[k].text, candidates[k].first);
        EXPECT_NEAR(result.candidates[k].confidence, candidates[k].second, 1e-4);
      }
    };
    const Engine ours = engine(expected.model);
    const auto results = ours.run(requests);
    check(results[0], expected.first);
    check(results[3], expected.fourth);
    // Noise depends on the number of the line, not on its place in the call.
    requests[3].line = 3;
    check(ours.run(Requests{requests[3]})[0], expected.fourth);
  }
}

TEST_F(TextEngineTest, RequestsOfDifferentSeedsAreComputedTogetherAsIfAlone) {
  for (const auto& [name, options] :
       {std::pair("model", kDrawn), std::pair("judge", kDrawnFromLeftToRight)}) {
    const Engine ours = engine(name);
    const uint64_t large = uint64_t{1} << 63 | 5;
    Requests requests;
    for (const uint64_t seed : {uint64_t{1}, uint64_t{2}, large, uint64_t{1}})
      requests.push_back({.text = "a b c d", .seed = seed, .options = options});
    const auto together = ours.run(requests);
    for (size_t k = 0; k < requests.size(); ++k)
      expect_same(together[k], ours.run(Requests{requests[k]})[0]);
    EXPECT_NE(together[0].candidates[0].confidence, together[1].candidates[0].confidence);
    EXPECT_NE(together[0].candidates[0].confidence, together[2].candidates[0].confidence);
  }
}

TEST_F(TextEngineTest, SeedsAreNoReasonForABatchOfTheirOwn) {
  Requests requests;
  std::vector<at::Tensor> seen;
  for (const uint64_t seed : {1, 2, 3})
    requests.push_back({.text = "a b c",
                        .seed = seed,
                        .options = {.steps = 1, .candidates = "2", .length = "5"},
                        .on_step = [&](const TextStep& step) { seen.push_back(step.sample.x); }});
  engine().run(requests);
  ASSERT_EQ(seen.size(), 3u);
  EXPECT_EQ(seen[0].size(0), 2);
  // Views of one tensor, so they are rows of one batch.
  EXPECT_EQ(seen[0].storage().data(), seen[1].storage().data());
  EXPECT_EQ(seen[0].storage().data(), seen[2].storage().data());
  EXPECT_FALSE(at::equal(seen[0], seen[1]));
}

TEST_F(TextEngineTest, TakesOptionsPerRequest) {
  const Engine ours = engine();
  const auto results = ours.run(Requests{{.text = "a b", .options = {.steps = 3}},
                                         {.text = "a b"},
                                         {.text = "a b", .options = {.candidates = "2x2"}},
                                         {.text = "a b", .options = {.length = "6"}},
                                         {.text = "a b", .target_length = 9}});
  EXPECT_EQ(results[0].nfe, 3);
  EXPECT_EQ(results[1].nfe, 4);
  EXPECT_EQ(results[1].candidates.size(), 3u);
  EXPECT_EQ(results[2].candidates.size(), 4u);
  EXPECT_EQ(results[3].predicted_length, 7);
  EXPECT_EQ(results[4].predicted_length, 9);
}

TEST_F(TextEngineTest, ReranksByAModelOfTheRequestOrOfTheEngine) {
  const std::string selection = "rerank=" + (parent_ / "judge").string();
  const Engine with(parent_ / "model", {.device = "cpu", .reranker = parent_ / "judge"});
  const auto one = engine().run(Requests{{.text = "a b c", .options = {.selection = selection}}});
  const auto two = with.run(Requests{{.text = "a b c", .options = {.selection = "rerank"}}});
  expect_same(one[0], two[0]);
  for (const auto& candidate : one[0].candidates) {
    ASSERT_TRUE(candidate.rerank_score);
    EXPECT_EQ(candidate.score, *candidate.rerank_score);
    EXPECT_LE(candidate.score, one[0].candidates[one[0].chosen].score);
  }
  EXPECT_EQ(one[0].ranking.front(), one[0].chosen);
  EXPECT_THROW(engine().in_effect(GenerateOptions{.selection = "rerank"}), UsageError);
}

TEST_F(TextEngineTest, ARequestThatFailsDoesNotTouchTheOthers) {
  const Engine ours = engine();
  const TextRequest good{.text = "a b c"};
  const auto results = ours.run(Requests{
      {.text = "b \xff"},
      good,
      {.text = "a b c", .options = {.steps = 0}},
      {.text = "a b c", .options = {.beam = 2}},
      {.text = "a b c", .on_step = [](const TextStep&) { throw std::runtime_error("mine"); }},
      {.text = "a b c", .options = {.length = "4000"}},
      {.symbols = {5, 999}}});
  expect_same(results[1], ours.run(Requests{good})[0]);
  for (const size_t k : {0, 2, 3, 4, 5, 6}) EXPECT_EQ(results[k].outcome, Outcome::failed) << k;
  const auto complaint = [&](size_t k) {
    return test::complaint([&] { results[k].require_done(); });
  };
  EXPECT_THAT(complaint(0), HasSubstr("text 0 is not UTF-8"));
  EXPECT_THAT(complaint(2), HasSubstr("steps must be at least 1, got 0"));
  EXPECT_THAT(complaint(3), HasSubstr("beam is not for models of kind 'diffusion'"));
  EXPECT_THROW(results[4].require_done(), std::runtime_error);
  EXPECT_THROW(results[5].require_done(), UsageError);
  EXPECT_THAT(complaint(6), HasSubstr("none of number 999"));
}

TEST_F(TextEngineTest, AStoppedRequestDoesNotTouchTheOthers) {
  const Engine ours = engine();
  std::stop_source source;
  const TextRequest other{.text = "z y x"};
  int64_t steps = 0;
  const TextRequest stopped{
      .text = "a b c", .stop = source.get_token(), .on_step = [&](const TextStep& step) {
        steps = step.sample.index + 1;
        if (step.sample.index == 1) source.request_stop();
      }};
  const auto results = ours.run(Requests{stopped, other});
  EXPECT_EQ(results[0].outcome, Outcome::stopped);
  EXPECT_EQ(steps, 2);
  EXPECT_THROW(results[0].require_done(), Error);
  expect_same(results[1], ours.run(Requests{other})[0]);

  // A request that was stopped before the call makes no step. Others in its batch go on.
  const auto late = ours.run(Requests{
      {.text = "a b c", .stop = source.get_token()}, {.text = "z y x"}, {.text = "a b c"}});
  EXPECT_EQ(late[0].outcome, Outcome::stopped);
  expect_same(late[1], results[1]);
  EXPECT_EQ(late[2].outcome, Outcome::done);
}

TEST_F(TextEngineTest, LeavesABatchThatNobodyWaitsFor) {
  std::stop_source source;
  int64_t calls = 0;
  Requests requests;
  for (int k = 0; k < 2; ++k)
    requests.push_back(
        {.text = "a b c", .stop = source.get_token(), .on_step = [&](const TextStep&) {
           ++calls;
           source.request_stop();
         }});
  for (const TextResult& result : engine().run(requests))
    EXPECT_EQ(result.outcome, Outcome::stopped);
  EXPECT_EQ(calls, 1);
}

TEST_F(TextEngineTest, ShowsARequestItsOwnSteps) {
  std::vector<double> times;
  const TextRequest request{.text = "a b c",
                            .options = {.candidates = "2", .length = "5"},
                            .on_step = [&](const TextStep& step) {
                              times.push_back(step.sample.t);
                              EXPECT_EQ(step.calls, 4);
                              EXPECT_EQ(step.sample.x.sizes(), (std::vector<int64_t>{2, 8, 8}));
                              EXPECT_EQ(step.noisy.sizes(), step.sample.labels.sizes());
                            }};
  TextRequest silent = request;
  silent.on_step = {};
  const auto results = engine().run(Requests{request, silent});
  EXPECT_THAT(times, ElementsAre(100, 75, 50, 25));
  expect_same(results[0], results[1]);
}

TEST_F(TextEngineTest, ShowsStepsAsText) {
  for (const char* name : {"model", "symbols"}) {
    const Engine ours = engine(name);
    std::vector<TextStepView> views;
    const auto show = [&](const TextStepView& view) { views.push_back(view); };
    const TextRequest request{.text = "a b c",
                              .options = {.candidates = "2", .length = "5"},
                              .on_step = ours.watch(show)};
    const TextResult result = ours.run(Requests{request}).front();
    ASSERT_EQ(views.size(), 4u) << name;
    for (size_t k = 0; k < views.size(); ++k) {
      const TextStepView& view = views[k];
      EXPECT_EQ(view.step, static_cast<int64_t>(k) + 1);
      EXPECT_EQ(view.calls, 4);
      ASSERT_EQ(view.candidates.size(), 2u);
      for (size_t row = 0; row < 2; ++row) {
        const auto& pieces = view.candidates[row];
        ASSERT_EQ(pieces.size(), 6u) << "five symbols and the end, without the padding";
        EXPECT_TRUE(pieces.front().glued);
        for (size_t n = 0; n < pieces.size(); ++n) {
          EXPECT_EQ(pieces[n].outside, pieces[n].text != pieces[n].noisy);
          EXPECT_EQ(pieces[n].changed,
                    k == 0 || pieces[n].text != views[k - 1].candidates[row][n].text);
        }
      }
    }
    // The last estimate is the result, unless symbols are drawn.
    for (size_t row = 0; row < 2 && name == std::string("model"); ++row) {
      std::string text;
      for (const TextStepView::Piece& piece : views.back().candidates[row]) {
        if (piece.text.empty()) break;
        text += (piece.glued ? "" : " ") + piece.text;
      }
      EXPECT_EQ(text, result.candidates[row].text) << name;
    }
  }
}

TEST_F(TextEngineTest, TakesSymbolsInsteadOfText) {
  const Engine ours = engine();
  const auto results = ours.run(Requests{{.text = "a b c"},
                                         {.symbols = ours.symbols_of("a b c")},
                                         {.text = "a b c", .candidate_texts = false}});
  expect_same(results[0], results[1]);
  EXPECT_EQ(results[2].text, results[0].text);
  EXPECT_EQ(results[2].candidates[0].text, "");
  EXPECT_EQ(results[2].candidates[0].symbols, results[0].candidates[0].symbols);
}

TEST_F(TextEngineTest, SaysWhatIsInEffect) {
  const GenerateOptions options = engine().in_effect(GenerateOptions{.candidates = "2x3"});
  EXPECT_EQ(options.steps, 4);
  EXPECT_EQ(options.lengths, 2);
  EXPECT_EQ(options.noises, 3);
  EXPECT_EQ(options.r, 1.0);
  EXPECT_EQ(options.noise, "texts");
  EXPECT_FALSE(options.beam);
  EXPECT_EQ(engine("judge").in_effect(GenerateOptions{}).beam, 5);
  EXPECT_THROW(engine().in_effect(GenerateOptions{.noise = "words"}), UsageError);
  EXPECT_THROW(engine().run(std::vector<ImageRequest>(1)), Error);
}

TEST_F(TextEngineTest, SaysWhatIsInEffectForSymbols) {
  const GenerateOptions options =
      engine("symbols").in_effect(GenerateOptions{.order = "confidence"});
  EXPECT_EQ(options.steps, 4);
  EXPECT_EQ(options.order, "confidence");
  EXPECT_EQ(options.predictor, "ancestral");
  EXPECT_EQ(options.temperature, 1.0);
  EXPECT_FALSE(options.r);
  EXPECT_FALSE(options.estimate);
}

TEST_F(TextEngineTest, RefusesOptionsOfOtherKindsOfModels) {
  const auto refused = [&](const char* name, const GenerateOptions& options) {
    return test::complaint([&] { engine(name).in_effect(options); });
  };
  EXPECT_THAT(refused("symbols", {.r = 0.5}), HasSubstr("r is not for models of kind 'symbols'"));
  EXPECT_THAT(refused("symbols", {.clock = "velocity"}), HasSubstr("clock is not for"));
  EXPECT_THAT(refused("symbols", {.beam = 3}), HasSubstr("beam is not for"));
  EXPECT_THAT(refused("model", {.order = "confidence"}), HasSubstr("order is not for"));
  EXPECT_THAT(refused("model", {.temperature = 1.0}), HasSubstr("temperature is not for"));
  EXPECT_THAT(refused("judge", {.predictor = "euler"}), HasSubstr("predictor is not for"));
  EXPECT_THAT(refused("symbols", {.predictor = "tau-leaping"}), HasSubstr("tau-leaping"));
}

TEST_F(TextEngineTest, ShowsMasks) {
  int64_t masks = 0, steps = 0;
  const TextRequest request{
      .text = "a b c",
      .options = {.steps = 4, .candidates = "2", .length = "5"},
      .on_step = [&](const TextStep& step) {
        ++steps;
        EXPECT_EQ(step.noisy.sizes(), step.sample.labels.sizes());
        masks += step.noisy.eq(text::Dictionary::kBos).sum().item<int64_t>();
        EXPECT_FALSE(step.sample.labels.eq(text::Dictionary::kBos).any().item<bool>());
      }};
  engine("symbols").run(Requests{request})[0].require_done();
  EXPECT_GT(steps, 0);
  EXPECT_GT(masks, 0);
}

TEST_F(TextEngineTest, CountsWhatIsDone) {
  int64_t done = 0;
  engine().run(Requests{{.text = "a"}, {.text = ""}, {.text = "\xff"}, {.text = "b c"}},
               [&](int64_t more) { done += more; });
  EXPECT_EQ(done, 4);
  EXPECT_TRUE(engine().run(Requests{}).empty());
}

TEST_F(TextEngineTest, MayBeSharedByThreads) {
  const Engine shared = engine();
  const std::string selection = "rerank=" + (parent_ / "judge").string();
  const Requests requests{{.text = "a b c"},
                          {.text = "z y", .seed = 3, .options = {.selection = selection}},
                          {.text = "q", .options = kDrawn}};
  std::vector<std::vector<TextResult>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = shared.run(requests); });
  for (auto& thread : threads) thread.join();
  const auto expected = shared.run(requests);
  for (const auto& result : results)
    for (size_t k = 0; k < requests.size(); ++k) expect_same(result[k], expected[k]);
}

}  // namespace
}  // namespace tessera
