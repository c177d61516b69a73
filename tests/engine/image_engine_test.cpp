#include <tessera/engine/engine.h>

#include "image_model/tiny_image_model.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::HasSubstr;

using ImageRequests = std::vector<ImageRequest>;

const SampleOptions kFew{.steps = 3, .sampler = "gaussian"};

class ImageEngineTest : public testing::Test {
 protected:
  static const std::filesystem::path& written(const std::filesystem::path& folder) {
    test::write_tiny_image_model(folder);
    return folder;
  }

  test::TemporaryFolder folder_;
  const Engine engine_{written(folder_.path()), {.device = "cpu"}};
};

TEST_F(ImageEngineTest, ARequestsImagesDoNotDependOnTheOthers) {
  const ImageRequests requests{{.count = 3, .options = kFew},
                               {.count = 2, .first = 4, .label = "dog", .seed = 9, .options = kFew},
                               {.count = 2, .seed = 9, .options = {.steps = 2}},
                               {.count = 1, .first = 2, .options = kFew}};
  const auto together = engine_.run(requests);
  for (size_t k = 0; k < requests.size(); ++k) {
    const auto alone = engine_.run(ImageRequests{requests[k]});
    ASSERT_EQ(together[k].outcome, Outcome::done);
    EXPECT_EQ(together[k].images.count, requests[k].count);
    EXPECT_EQ(together[k].images.values, alone[0].images.values) << k;
  }
  EXPECT_TRUE(std::equal(together[3].images.values.begin(), together[3].images.values.end(),
                         together[0].images.image(2)));
  EXPECT_NE(together[0].nfe, together[2].nfe);
}

TEST_F(ImageEngineTest, HandsImagesOverSomeAtATime) {
  const ImageRequest whole{.count = 5, .options = {.steps = 2, .batch = 2}};
  std::vector<int64_t> counts;
  std::vector<uint8_t> values;
  ImageRequest taken = whole;
  taken.take = [&](const Images& some) {
    counts.push_back(some.count);
    values.insert(values.end(), some.values.begin(), some.values.end());
  };
  EXPECT_EQ(engine_.run(ImageRequests{taken})[0].images.count, 0);
  EXPECT_THAT(counts, testing::ElementsAre(2, 2, 1));
  EXPECT_EQ(values, engine_.run(ImageRequests{whole})[0].images.values);
}

TEST_F(ImageEngineTest, StoppedAndFailedRequestsDoNotTouchTheOthers) {
  std::stop_source source;
  int64_t steps = 0;
  const ImageRequest good{.count = 2, .options = kFew};
  const auto results = engine_.run(
      ImageRequests{{.count = 2,
                     .options = kFew,
                     .stop = source.get_token(),
                     .on_step =
                         [&](const ImageStep& step) {
                           ++steps;
                           EXPECT_EQ(step.sample.x.size(0), 2);
                           source.request_stop();
                         }},
                    good,
                    {.count = -1},
                    {.label = "cow"},
                    {.options = {.r = 2.0}},
                    {.options = kFew, .take = [](const Images&) { throw Error("full"); }},
                    {.options = kFew, .on_step = [](const ImageStep&) { throw Error("mine"); }}});
  EXPECT_EQ(results[0].outcome, Outcome::stopped);
  EXPECT_EQ(steps, 1);
  EXPECT_EQ(results[1].images.values, engine_.run(ImageRequests{good})[0].images.values);
  const char* complaints[] = {"must not be negative", "no class 'cow'", "r must be in [0, 1]",
                              "full", "mine"};
  for (size_t k = 0; k < 5; ++k)
    EXPECT_THAT(test::complaint([&] { results[k + 2].require_done(); }), HasSubstr(complaints[k]));
}

// DDIM is the model of DDPM, whose noise has the large variance, sampled without noise.
TEST(ImageEngine, SamplesAModelOfDdpmWithoutNoise) {
  const test::TemporaryFolder folder;
  const auto said = [&](const SamplerOptions& sampler, const char* name) {
    test::write_tiny_image_model(folder.path(), true, {.sampler = sampler});
    const Engine engine(folder.path(), {.device = "cpu"});
    const SampleOptions asked{.steps = 3, .r = 0.0, .sampler = name};
    return engine.run(ImageRequests{{.count = 1, .options = asked}})[0];
  };
  const SamplerOptions ddpm{.noise = SamplerNoise::gaussian, .variance = SamplerVariance::large};
  const SamplerOptions ddim{.noise = SamplerNoise::none};
  const auto with_noise = said(ddpm, "gaussian"), without = said(ddpm, "deterministic");
  without.require_done();
  EXPECT_EQ(without.images.values, said(ddim, "deterministic").images.values);
  with_noise.require_done();
  EXPECT_NE(with_noise.images.values, without.images.values);
}

TEST_F(ImageEngineTest, SaysWhatIsInEffect) {
  const SampleOptions options = engine_.in_effect(SampleOptions{.steps = 7});
  EXPECT_EQ(options.steps, 7);
  EXPECT_EQ(options.r, 0.5);
  EXPECT_EQ(options.sampler, "deterministic");
  EXPECT_EQ(options.batch, 500);
  EXPECT_TRUE(engine_.makes_images());
  EXPECT_EQ(engine_.image_size().height, 8);
  EXPECT_THROW(engine_.run(std::vector<TextRequest>(1)), Error);
}

}  // namespace
}  // namespace tessera
