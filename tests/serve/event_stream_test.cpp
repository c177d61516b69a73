#include "serve/event_stream.h"

#include <gtest/gtest.h>

#include <string>
#include <thread>

namespace tessera::serve {
namespace {

using namespace std::chrono_literals;

TEST(EventStream, FormatsEvents) {
  EventStream stream;
  stream.send("step", R"({"step":1})");
  stream.send("result", "{}");
  EXPECT_FALSE(stream.finished());
  EXPECT_EQ(stream.take(0ms), "event: step\ndata: {\"step\":1}\n\nevent: result\ndata: {}\n\n");
  EXPECT_EQ(stream.take(1ms), "");
}

TEST(EventStream, IsFinishedWhenAllIsTaken) {
  EventStream stream;
  stream.send("a", "1");
  stream.close();
  EXPECT_FALSE(stream.finished());
  stream.take(0ms);
  EXPECT_TRUE(stream.finished());
  stream.send("b", "2");
  EXPECT_EQ(stream.take(0ms), "") << "nothing comes after the end";
}

TEST(EventStream, WakesTheOneWhoWaits) {
  EventStream stream;
  std::thread producer([&] {
    std::this_thread::sleep_for(20ms);
    stream.send("late", "1");
  });
  const auto begin = std::chrono::steady_clock::now();
  EXPECT_EQ(stream.take(60s), "event: late\ndata: 1\n\n");
  EXPECT_LT(std::chrono::steady_clock::now() - begin, 50s);
  producer.join();
}

TEST(EventStream, LeavesOutStepsForASlowClient) {
  EventStream stream;
  const std::string step(1 << 20, 'x');
  for (int k = 0; k < 100; ++k) stream.send("step", step);
  stream.send("result", "1");
  const std::string all = stream.take(0ms);
  EXPECT_LT(all.size(), 6u << 20);
  EXPECT_TRUE(all.ends_with("event: result\ndata: 1\n\n"));
}

TEST(EventStream, StopsTheWorkWhenItsClientLeaves) {
  EventStream stream;
  const std::stop_token token = stream.abandoned();
  EXPECT_FALSE(token.stop_requested());
  stream.abandon();
  EXPECT_TRUE(token.stop_requested());
  stream.send("step", "1");
  EXPECT_EQ(stream.take(0ms), "");
}

}  // namespace
}  // namespace tessera::serve
