#include "ranks/group.h"

#include "ranks/two_processes.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>

namespace tessera::ranks {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(Group, AddsUpTheSameForAll) {
  test::play(3, [](Group& group) {
    const at::Tensor values = at::full({5}, static_cast<float>(1 << group.rank()));
    group.sum(values);
    EXPECT_TRUE(at::equal(values, at::full({5}, 7.0f)));
  });
}

TEST(Group, TakesTheValuesOfTheFirst) {
  test::play(2, [](Group& group) {
    const at::Tensor values = at::full({2, 3}, group.rank() + 4, at::kLong);
    group.broadcast(values);
    EXPECT_TRUE(at::equal(values, at::full({2, 3}, 4, at::kLong)));
  });
}

TEST(Group, GathersTextsOfDifferentLengths) {
  test::play(3, [](Group& group) {
    EXPECT_THAT(group.gather(std::string(static_cast<size_t>(group.rank()), 'x')),
                ElementsAre("", "x", "xx"));
  });
}

TEST(Group, StopsAllAtTheSameUpdate) {
  std::atomic<int> stopped[2];
  test::play(2, [&](Group& group) {
    for (int step = 1; step < 10; ++step)
      if (group.agree_to_stop(step, group.rank() == 1 && step >= 4)) {
        stopped[group.rank()] = step;
        return;
      }
  });
  EXPECT_EQ(stopped[0], 5);  // one update after it was asked for
  EXPECT_EQ(stopped[1], 5);
}

TEST(Group, NoticesProcessesThatAreNotInStep) {
  test::play(2, [](Group& group) {
    group.agree_to_stop(7 + group.rank(), false);
    EXPECT_THROW(group.agree_to_stop(8 + group.rank(), false), Error);
  });
}

TEST(Group, TellsAllWhatFailedInOne) {
  test::play(2, [](Group& group) {
    const auto work = [&] {
      if (group.rank() == 1) throw UsageError("there is no file 'x'");
    };
    try {
      together(group, work);
      FAIL() << "nothing was thrown";
    } catch (const UsageError& error) {
      EXPECT_EQ(group.rank(), 1);
      EXPECT_STREQ(error.what(), "there is no file 'x'");
    } catch (const Error& error) {
      EXPECT_EQ(group.rank(), 0);
      EXPECT_STREQ(error.what(), "process 1 of 2 failed: there is no file 'x'");
    }
  });
}

TEST(Group, GivesUpTogether) {
  test::play(2, [](Group& group) {
    EXPECT_THROW(together(group,
                          [&] {
                            if (group.first()) throw GivenUp();
                          }),
                 GivenUp);
  });
}

TEST(Group, LetsTheFirstWorkBeforeTheOthers) {
  std::atomic<bool> made = false;
  test::play(3, [&](Group& group) {
    first_then_others(group, [&] {
      if (group.first())
        made = true;
      else
        EXPECT_TRUE(made);
    });
  });
}

TEST(Group, NoticesThatAProcessHasGone) {
  const int port = test::free_port();
  std::jthread other([&] {
    const auto group = meet(test::rank_options(1, 2, port), at::kCPU);
    group->gather("here");
  });  // and leaves
  const auto group = meet(test::rank_options(0, 2, port), at::kCPU);
  group->gather("here");
  const at::Tensor values = at::ones({1000});
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_THROW(group->sum(values), LostProcess);
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(19));
}

TEST(Group, DoesNotWaitForEverForOneThatNeverComes) {
  RankOptions options = test::rank_options(0, 2, test::free_port());
  options.timeout = 1;
  try {
    meet(options, at::kCPU);
    FAIL() << "nothing was thrown";
  } catch (const LostProcess& error) {
    EXPECT_THAT(error.what(), HasSubstr("2 processes of the training did not meet"));
  }
}

TEST(Group, RefusesPlacesThatAreNotThere) {
  EXPECT_THROW(meet({.rank = 2, .size = 2}, at::kCPU), UsageError);
  EXPECT_THROW(meet({.rank = 0, .size = 2, .port = 0}, at::kCPU), UsageError);
  EXPECT_TRUE(meet({}, at::kCPU)->alone());
}

}  // namespace
}  // namespace tessera::ranks
