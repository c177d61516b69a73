#include "seq2seq/generator.h"

#include "seq2seq/tiny_model.h"
#include "support/log_listener.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <thread>

namespace tessera::seq2seq {
namespace {

using Sources = std::vector<std::vector<text::Id>>;
using test::tiny_source;
using testing::IsEmpty;

constexpr text::Id kEos = text::Dictionary::kEos;

void expect_equal(const Generated& a, const Generated& b) {
  EXPECT_EQ(a.chosen, b.chosen);
  EXPECT_EQ(a.predicted_length, b.predicted_length);
  ASSERT_EQ(a.candidates.size(), b.candidates.size());
  for (size_t k = 0; k < a.candidates.size(); ++k) {
    EXPECT_EQ(a.candidates[k].ids, b.candidates[k].ids) << k;
    EXPECT_EQ(a.candidates[k].confidence, b.candidates[k].confidence) << k;
    EXPECT_EQ(a.candidates[k].expected_bleu, b.candidates[k].expected_bleu) << k;
  }
}

// Equal up to rounding: sums may be computed in another order in another batch.
void expect_close(const Generated& a, const Generated& b) {
  EXPECT_EQ(a.chosen, b.chosen);
  ASSERT_EQ(a.candidates.size(), b.candidates.size());
  for (size_t k = 0; k < a.candidates.size(); ++k) {
    EXPECT_EQ(a.candidates[k].ids, b.candidates[k].ids) << k;
    EXPECT_NEAR(a.candidates[k].confidence, b.candidates[k].confidence, 1e-5) << k;
  }
}

// For tests that need equal shapes.
GenerationOptions fixed_length(int64_t length) {
  GenerationOptions options = test::tiny_generation();
  options.length = LengthRule{false, length};
  return options;
}

class GeneratorTest : public testing::Test {
 protected:
  const Diffusion model_{test::tiny_model()};
};

TEST_F(GeneratorTest, MakesTheSameSentencesEveryTime) {
  const Sources sources{tiny_source(5, 1), tiny_source(9, 2), tiny_source(14, 3)};
  const Generator generator(model_, test::tiny_generation());
  const auto first = generator.generate(sources), second = generator.generate(sources);
  ASSERT_EQ(first.size(), 3u);
  for (size_t k = 0; k < 3; ++k) {
    expect_equal(first[k], second[k]);
    EXPECT_EQ(first[k].nfe, 4);
    EXPECT_EQ(first[k].candidates.size(), 3u);
    EXPECT_LT(first[k].best().confidence, 0);
  }
}

TEST_F(GeneratorTest, NeverDecodesWhatCannotBeDecoded) {
  Sources sources;
  for (text::Id k = 0; k < 20; ++k) sources.push_back(tiny_source(8, k));
  for (const Generated& result : Generator(model_, fixed_length(12)).generate(sources))
    for (const Candidate& candidate : result.candidates)
      for (const text::Id id : candidate.ids) EXPECT_GE(id, text::Dictionary::kSpecials);
}

TEST_F(GeneratorTest, ResultsOfALineDoNotDependOnItsNeighbours) {
  const Generator generator(model_, fixed_length(9));
  const Sources one{tiny_source(7, 1), tiny_source(6, 2), tiny_source(8, 3), tiny_source(5, 4)};
  const Sources other{tiny_source(5, 9), tiny_source(6, 2), tiny_source(8, 8), tiny_source(7, 7)};
  expect_equal(generator.generate(one)[1], generator.generate(other)[1]);
}

TEST_F(GeneratorTest, ResultsOfALineHardlyDependOnThePaddedShape) {
  Sources sources;
  for (text::Id k = 0; k < 60; ++k) sources.push_back(tiny_source(4 + k % 20, k));
  GenerationOptions options = test::tiny_generation();
  const auto together = Generator(model_, options).generate(sources);
  options.batch_tokens = 1;
  const auto alone = Generator(model_, options).generate(sources);
  size_t equal = 0;
  for (size_t k = 0; k < sources.size(); ++k) equal += together[k].ids() == alone[k].ids();
  EXPECT_EQ(equal, sources.size());
}

TEST_F(GeneratorTest, EqualLinesGiveEqualResults) {
  const Generator generator(model_, fixed_length(9));
  const auto results =
      generator.generate({tiny_source(7, 1), tiny_source(7, 2), tiny_source(7, 2)});
  expect_close(results[1], results[2]);
  EXPECT_NE(results[0].candidates[0].confidence, results[1].candidates[0].confidence);
}

TEST_F(GeneratorTest, NoiseOfLinesIsNumberedAsTheyAreInTheInput) {
  GenerationOptions options = fixed_length(9);
  options.noise = NoiseOf::lines;
  const Generator generator(model_, options);
  const Sources all{tiny_source(7, 1), tiny_source(7, 2), tiny_source(7, 2)},
      last{tiny_source(7, 2)};
  const auto whole = generator.generate(all);
  EXPECT_NE(whole[1].candidates[0].confidence, whole[2].candidates[0].confidence)
      << "equal lines have noise of their own";
  const int64_t number = 2;
  const auto chunk = generator.generate(last, {.lines = std::span(&number, 1)});
  EXPECT_EQ(chunk[0].ids(), whole[2].ids());
}

TEST_F(GeneratorTest, SourcesMayHaveSeedsOfTheirOwn) {
  GenerationOptions options = fixed_length(9);
  options.sampler.noise = SamplerNoise::gaussian;
  const Sources sources{tiny_source(7, 1), tiny_source(7, 1), tiny_source(7, 1)};
  const uint64_t seeds[] = {5, 77, 5};
  const auto together = Generator(model_, options).generate(sources, {.seeds = seeds});
  for (const size_t k : {0, 1, 2}) {
    options.sampler.seed = seeds[k];
    expect_close(Generator(model_, options).generate(sources)[0], together[k]);
  }
  EXPECT_NE(together[0].candidates[0].confidence, together[1].candidates[0].confidence);
}

TEST_F(GeneratorTest, SeedsMatter) {
  GenerationOptions options = fixed_length(9);
  const Sources sources{tiny_source(7, 1)};
  const auto one = Generator(model_, options).generate(sources);
  options.sampler.seed = 77;
  const auto other = Generator(model_, options).generate(sources);
  EXPECT_NE(one[0].candidates[0].confidence, other[0].candidates[0].confidence);
}

TEST_F(GeneratorTest, AnEmptyLineGivesAnEmptyLine) {
  const Generator generator(model_, test::tiny_generation());
  const auto results = generator.generate({{}, {kEos}, tiny_source(4, 1), {}});
  ASSERT_EQ(results.size(), 4u);
  for (const size_t k : {0, 1, 3}) {
    EXPECT_THAT(results[k].ids(), IsEmpty());
    EXPECT_EQ(results[k].nfe, 0);
  }
  EXPECT_EQ(results[2].nfe, 4);
  EXPECT_TRUE(generator.generate({}).empty());
  EXPECT_EQ(generator.generate({{}}).size(), 1u);
}

TEST_F(GeneratorTest, ATooLongLineLosesItsEndWithAWarningThatNamesIt) {
  const Generator generator(model_, test::tiny_generation());
  std::vector<Generated> results;
  EXPECT_THAT(test::said([&] {
                results = generator.generate({tiny_source(4, 1), tiny_source(10000, 2)});
              }),
              testing::HasSubstr("line 2: 9999 symbols"));
  EXPECT_TRUE(results[1].truncated);
  EXPECT_FALSE(results[0].truncated);
  EXPECT_LE(results[1].candidates[0].length, 40);
}

TEST_F(GeneratorTest, TriesTheLikeliestLengths) {
  GenerationOptions options = test::tiny_generation();
  options.lengths = 4;
  options.noises = 2;
  const Generated result = Generator(model_, options).generate({tiny_source(9, 1)})[0];
  ASSERT_EQ(result.candidates.size(), 8u);
  std::set<int64_t> lengths;
  for (size_t k = 0; k < 8; ++k) {
    lengths.insert(result.candidates[k].length);
    EXPECT_EQ(result.candidates[k].length, result.candidates[k / 2 * 2].length);
    EXPECT_LE(static_cast<int64_t>(result.candidates[k].ids.size()), result.candidates[k].length);
  }
  EXPECT_EQ(lengths.size(), 4u);
  EXPECT_EQ(result.candidates[0].length, result.predicted_length);
}

TEST_F(GeneratorTest, TriesAWindowAroundTheLikeliestLength) {
  GenerationOptions options = test::tiny_generation();
  options.lengths = 5;
  options.noises = 1;
  options.length_choice = LengthChoice::window;
  Sources sources;
  for (text::Id k = 0; k < 20; ++k) sources.push_back(tiny_source(3 + k, k));
  int64_t inside = 0;  // windows that the model's positions do not cut off
  for (const Generated& result : Generator(model_, options).generate(sources)) {
    const int64_t middle = result.predicted_length;
    std::vector<int64_t> lengths;
    for (const Candidate& candidate : result.candidates) lengths.push_back(candidate.length);
    EXPECT_THAT(lengths, testing::Each(testing::AllOf(testing::Ge(1), testing::Le(40))));
    if (middle < 3 || middle > 38) continue;
    ++inside;
    EXPECT_THAT(lengths,
                testing::ElementsAre(middle, middle + 1, middle - 1, middle + 2, middle - 2));
    for (const Candidate& candidate : result.candidates)
      EXPECT_LE(candidate.length_log_probability, result.candidates.front().length_log_probability);
  }
  EXPECT_GT(inside, 0);
}

TEST_F(GeneratorTest, DrawsLengthsByTheirProbability) {
  const std::vector<text::Id> source = tiny_source(9, 1);
  GenerationOptions options = test::tiny_generation();
  options.noises = 1;
  options.lengths = 40;  // all that fit the model's positions: the whole distribution
  double total = 0, mean = 0, square = 0;
  const auto all = Generator(model_, options).generate({source});
  for (const Candidate& each : all.front().candidates) {
    const double share = std::exp(each.length_log_probability);
    const auto length = static_cast<double>(each.length);
    total += share;
    mean += share * length;
    square += share * length * length;
  }
  EXPECT_NEAR(total, 1, 1e-4);

  options.length_choice = LengthChoice::draw;
  options.lengths = 100;
  const uint64_t seeds[] = {options.sampler.seed, 2, 3, 4};
  const auto drawn = Generator(model_, options).generate(Sources(4, source), {.seeds = seeds});
  double sum = 0, count = 0;
  for (const Generated& result : drawn) {
    EXPECT_EQ(result.predicted_length, result.candidates.front().length);
    for (size_t k = 0; k < result.candidates.size(); ++k) {
      const Candidate& each = result.candidates[k];
      sum += static_cast<double>(each.length);
      ++count;
      EXPECT_THAT(each.length, testing::AllOf(testing::Ge(1), testing::Le(40)));
      const Candidate& likelier = result.candidates[k == 0 ? 0 : k - 1];
      EXPECT_LE(each.length_log_probability, likelier.length_log_probability);
    }
  }
  EXPECT_NEAR(sum / count, mean, 4 * std::sqrt((square - mean * mean) / count));

  const auto lengths_of = [](const Generated& result) {
    std::vector<int64_t> lengths;
    for (const Candidate& each : result.candidates) lengths.push_back(each.length);
    return lengths;
  };
  EXPECT_NE(lengths_of(drawn[0]), lengths_of(drawn[1])) << "seeds draw by themselves";
  const auto alone = Generator(model_, options).generate({source});
  EXPECT_EQ(lengths_of(drawn[0]), lengths_of(alone[0])) << "a line draws whatever is beside it";
  options.sampler.seed = 77;
  EXPECT_NE(lengths_of(drawn[0]), lengths_of(Generator(model_, options).generate({source})[0]));
}

TEST_F(GeneratorTest, ChoosesInStages) {
  GenerationOptions options = test::tiny_generation();
  options.lengths = 3;
  options.noises = 3;
  options.selection = Selection::staged;
  for (const Generated& result : Generator(model_, options).generate({tiny_source(9, 1)})) {
    EXPECT_TRUE(result.best().staged_score.has_value());
    for (const Candidate& each : result.candidates)
      EXPECT_LE(score_of(each, Selection::staged), *result.best().staged_score);
  }
  EXPECT_THROW(Generator(test::tiny_autoregressive(), options), UsageError);
}

TEST_F(GeneratorTest, KeepsToALengthItIsAskedFor) {
  const Sources sources{tiny_source(9, 1), tiny_source(15, 2)};
  for (const Generated& result : Generator(model_, fixed_length(11)).generate(sources))
    for (const Candidate& candidate : result.candidates) EXPECT_EQ(candidate.length, 12);
  GenerationOptions options = test::tiny_generation();
  const auto plain = Generator(model_, options).generate(sources);
  options.length = LengthRule{true, 1000};
  const auto longest = Generator(model_, options).generate(sources);
  options.length = LengthRule{true, -1};
  const auto shorter = Generator(model_, options).generate(sources);
  for (size_t k = 0; k < 2; ++k) {
    EXPECT_EQ(longest[k].candidates[0].length, 40) << "the model's positions";
    EXPECT_EQ(shorter[k].candidates[0].length,
              std::max<int64_t>(1, plain[k].candidates[0].length - 1));
  }
  EXPECT_THROW(Generator(model_, fixed_length(40)).generate(sources), UsageError);
}

TEST_F(GeneratorTest, ChoosesAsAsked) {
  Sources sources;
  for (text::Id k = 0; k < 10; ++k) sources.push_back(tiny_source(10, k));
  GenerationOptions options = fixed_length(10);
  options.noises = 6;
  for (const Selection selection : {Selection::mbr, Selection::confidence}) {
    options.selection = selection;
    for (const Generated& result : Generator(model_, options).generate(sources))
      for (const Candidate& candidate : result.candidates) {
        if (selection == Selection::mbr)
          EXPECT_LE(candidate.expected_bleu, result.best().expected_bleu);
        else
          EXPECT_LE(candidate.confidence, result.best().confidence);
      }
  }
}

// The log-probability as the definition has it: softmax over all scores at once.
TEST_F(GeneratorTest, ConfidenceIsTheMeanLogProbabilityOfTheSymbols) {
  GenerationOptions options = fixed_length(9);
  options.noises = 1;
  at::Tensor last;
  GenerateHooks hooks;
  hooks.step = [&](const GenerationStep& step) { last = step.sample.x0_hat.clone(); };
  const Generated result = Generator(model_, options).generate({tiny_source(7, 1)}, hooks)[0];
  const at::Tensor best =
      std::get<0>(at::log_softmax(model_.codebook().scores(last[0]), -1).max(-1)).to(at::kDouble);
  const auto ids = static_cast<int64_t>(result.ids().size());
  const int64_t scored = std::min<int64_t>(ids + 1, 10);
  EXPECT_NEAR(result.best().confidence, best.narrow(0, 0, scored).mean().item<double>(), 1e-5);
}

TEST_F(GeneratorTest, ShowsEveryStepAndItsProgress) {
  GenerateHooks hooks;
  std::vector<double> times;
  int64_t done = 0;
  hooks.step = [&](const GenerationStep& step) {
    times.push_back(step.sample.t);
    EXPECT_THAT(std::vector(step.sources.begin(), step.sources.end()), testing::ElementsAre(0, 2));
    EXPECT_EQ(step.calls, 4);
    EXPECT_EQ(step.sample.labels.size(0), 2 * step.candidates);
    EXPECT_EQ(step.visible.sizes(), step.sample.labels.sizes());
  };
  hooks.progress = [&](int64_t sentences) { done += sentences; };
  const Generator generator(model_, fixed_length(9));
  generator.generate({tiny_source(7, 1), {}, tiny_source(7, 2)}, hooks);
  EXPECT_THAT(times, testing::ElementsAre(100, 75, 50, 25));
  EXPECT_EQ(done, 3);
}

TEST_F(GeneratorTest, MayBeEndedBeforeEveryNetworkCall) {
  const Autoregressive search = test::tiny_autoregressive();
  GenerationOptions drawn;
  drawn.temperature = 1;
  const Sources sources{tiny_source(5, 1)};
  for (const Generator& generator : {Generator(model_, test::tiny_generation()),
                                     Generator(search, {}), Generator(search, drawn)}) {
    int64_t calls = 0;
    const auto whole = generator.generate(sources, {.pause = [&] { ++calls; }});
    EXPECT_EQ(calls, whole[0].nfe);
    const auto end_at_the_third = [&] {
      if (++calls == 3) throw Error("enough");
    };
    calls = 0;
    EXPECT_THROW(generator.generate(sources, {.pause = end_at_the_third}), Error);
    EXPECT_EQ(calls, 3);
  }
}

TEST_F(GeneratorTest, MayBeSharedByThreads) {
  const Generator generator(model_, fixed_length(9));
  const Sources sources{tiny_source(7, 1), tiny_source(6, 2)};
  const auto expected = generator.generate(sources);
  std::vector<std::vector<Generated>> results(4);
  std::vector<std::thread> threads;
  for (auto& result : results) threads.emplace_back([&] { result = generator.generate(sources); });
  for (auto& thread : threads) thread.join();
  for (const auto& result : results)
    for (size_t k = 0; k < sources.size(); ++k) EXPECT_EQ(result[k].ids(), expected[k].ids());
}

// As on CUDA, where all matrix products are in bfloat16.
TEST_F(GeneratorTest, MayComputeInBfloat16) {
  const Diffusion low(test::tiny_options(), test::tiny_dictionary().size(), {0, 1, 3}, at::kCPU,
                      nn::Precision::bfloat16, 3);
  const Generated exact = Generator(model_, fixed_length(9)).generate({tiny_source(7, 1)})[0];
  const Generated rounded = Generator(low, fixed_length(9)).generate({tiny_source(7, 1)})[0];
  ASSERT_EQ(rounded.candidates.size(), exact.candidates.size());
  EXPECT_NEAR(rounded.candidates[0].confidence, exact.candidates[0].confidence, 0.5);
}

TEST_F(GeneratorTest, RefusesOptionsThatMakeNoSense) {
  const auto with = [](auto change) {
    GenerationOptions options;
    options.sampler.steps = 4;
    change(options);
    return options;
  };
  for (const GenerationOptions& options :
       {with([](auto& o) { o.noises = 0; }), with([](auto& o) { o.lengths = 0; }),
        with([](auto& o) { o.lengths = 300; }), with([](auto& o) { o.noises = 5000; }),
        with([](auto& o) { o.batch_tokens = 0; }), with([](auto& o) { o.sampler.steps = 101; })})
    EXPECT_THROW(Generator(model_, options), UsageError);
}

}  // namespace
}  // namespace tessera::seq2seq
