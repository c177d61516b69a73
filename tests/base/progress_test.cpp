#include "base/progress.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <vector>

namespace tessera {
namespace {

using Phase = ProgressEvent::Phase;

class Watched {
 public:
  Watched() {
    set_progress_sink([this](const ProgressEvent& event) { events.push_back(event); });
  }
  ~Watched() { set_progress_sink({}); }

  std::vector<ProgressEvent> events;
};

TEST(Progress, TellsTheSinkFromBeginningToEnd) {
  const Watched watched;
  {
    Progress progress("sampling", 10, 2);
    progress.advance(3);
    progress.note("loss 1.23");
  }
  ASSERT_EQ(watched.events.size(), 4u);
  EXPECT_EQ(watched.events[0].phase, Phase::began);
  EXPECT_EQ(watched.events[0].done, 2);
  EXPECT_EQ(watched.events[1].phase, Phase::advanced);
  EXPECT_EQ(watched.events[1].done, 5);
  EXPECT_EQ(watched.events[2].note, "loss 1.23");
  const ProgressEvent& last = watched.events[3];
  EXPECT_EQ(last.phase, Phase::ended);
  EXPECT_EQ(last.label, "sampling");
  EXPECT_EQ(last.total, 10);
  EXPECT_EQ(last.start, 2);
  EXPECT_GE(last.seconds, watched.events[1].seconds);
}

TEST(Progress, NumbersPiecesOfWork) {
  const Watched watched;
  const Progress outer("training", 2);
  const Progress inner("validating", 2);
  EXPECT_NE(watched.events[0].work, watched.events[1].work);
}

TEST(Progress, CountsWhatThreadsDo) {
  const Watched watched;
  {
    Progress progress("sampling", 400);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
      threads.emplace_back([&] {
        for (int j = 0; j < 100; ++j) progress.advance();
      });
    for (std::thread& thread : threads) thread.join();
  }
  EXPECT_EQ(watched.events.back().done, 400);
  EXPECT_EQ(watched.events.size(), 402u);
}

TEST(Progress, IsSilentWithoutASink) {
  testing::internal::CaptureStderr();
  {
    Progress progress("sampling", 3);
    progress.advance(3);
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "");
}

}  // namespace
}  // namespace tessera
