#include "process/changed_sampler.h"

#include <tessera/base/error.h>

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(ChangedSampler, KeepsWhatIsNotSet) {
  SamplerOptions options = SamplerOptions::difformer();
  const SamplerOptions changed = changed_sampler(options, std::nullopt, std::nullopt, 7);
  EXPECT_EQ(changed.steps, options.steps);
  EXPECT_EQ(changed.skip_last, options.skip_last);
  EXPECT_EQ(changed.r, options.r);
  EXPECT_EQ(changed.seed, 7);
}

TEST(ChangedSampler, LeavesOutTheSameShareOfOtherSteps) {
  const SamplerOptions options = SamplerOptions::difformer();  // 15 of 20
  EXPECT_EQ(changed_sampler(options, 40, std::nullopt, 0).skip_last, 10);
  EXPECT_EQ(changed_sampler(options, 4, std::nullopt, 0).skip_last, 1);
  EXPECT_EQ(changed_sampler(options, 1, std::nullopt, 0).skip_last, 0);
}

TEST(ChangedSampler, AnRThatIsSetCounts) {
  SamplerOptions forward_only;
  forward_only.rescale_reverse = false;
  EXPECT_FALSE(changed_sampler(forward_only, 5, std::nullopt, 0).rescale_reverse);
  const SamplerOptions changed = changed_sampler(forward_only, std::nullopt, 0.5, 0);
  EXPECT_TRUE(changed.rescale_reverse);
  EXPECT_EQ(changed.r, 0.5);
}

TEST(ChangedSampler, RefusesWhatCannotBeSampled) {
  EXPECT_THROW(changed_sampler({}, 0, std::nullopt, 0), UsageError);
  EXPECT_THROW(changed_sampler({}, std::nullopt, 1.5, 0), UsageError);
}

}  // namespace
}  // namespace tessera
