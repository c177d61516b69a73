#include "serve/engine_room.h"

#include "serve/refusal.h"
#include "support/log_listener.h"
#include "support/wait_until.h"

#include <tessera/base/out_of_memory.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <future>
#include <map>
#include <mutex>
#include <new>
#include <string>
#include <thread>
#include <vector>

namespace tessera::serve {
namespace {

using namespace std::chrono_literals;
using ::tessera::test::wait_until;
using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::UnorderedElementsAre;

// A model that answers "a" with "A a", and computes only when the test lets it.
class FakeModel {
 public:
  RoomModel model(const std::string& name, int64_t batch_tokens = 4) {
    RoomModel made;
    made.facts.name = name;
    made.batch_tokens = batch_tokens;
    made.prepare_text = [](TextRequest& request) {
      if (request.text == "wrong") throw UsageError("a wrong text");
      return static_cast<int64_t>(request.text.size());
    };
    made.run_texts = [this](std::span<const TextRequest> requests) { return run(requests); };
    return made;
  }

  std::vector<TextResult> run(std::span<const TextRequest> requests) {
    std::unique_lock lock(mutex_);
    auto& batch = batches_.emplace_back();
    for (const TextRequest& request : requests) batch.push_back(request.text);
    entered_.notify_all();
    entered_.wait(lock, [&] {
      return allowed_ > 0 || std::ranges::all_of(requests, [](const TextRequest& request) {
               return request.stop.stop_requested();
             });
    });
    if (allowed_ > 0) --allowed_;
    if (throws_) std::rethrow_exception(throws_);
    std::vector<TextResult> results;
    for (const TextRequest& request : requests) {
      TextResult& result = results.emplace_back();
      if (request.on_step) request.on_step({});
      if (request.stop.stop_requested())
        result.outcome = Outcome::stopped;
      else if (request.text == "bad")
        result = {.outcome = Outcome::failed,
                  .failure = std::make_exception_ptr(UsageError("a bad text"))};
      else
        result.text = "A " + request.text;
    }
    return results;
  }

  void allow(int64_t batches) {
    const std::lock_guard lock(mutex_);
    allowed_ += batches;
    entered_.notify_all();
  }
  void fail_with(std::exception_ptr failure) {
    const std::lock_guard lock(mutex_);
    throws_ = std::move(failure);
  }
  // Without that of the warm-up.
  std::vector<std::vector<std::string>> batches() {
    const std::lock_guard lock(mutex_);
    return {batches_.begin() + 1, batches_.end()};
  }
  void wait_for_batch(size_t count) {
    EXPECT_TRUE(wait_until([&] {
      const std::lock_guard lock(mutex_);
      return batches_.size() > count;
    }));
  }
  // A thread in `run` looks at the stop tokens again.
  void look() { entered_.notify_all(); }

 private:
  std::mutex mutex_;
  std::condition_variable entered_;
  std::vector<std::vector<std::string>> batches_;
  std::exception_ptr throws_;
  int64_t allowed_ = 1;  // the warm-up
};

constexpr int64_t kAll = 1000;

class EngineRoomTest : public testing::Test {
 protected:
  EngineRoom& room(const RoomOptions& options = {}, int64_t batch_tokens = 4) {
    std::vector<RoomModel> models;
    models.push_back(fake_.model("one", batch_tokens));
    models.push_back(fake_.model("two", batch_tokens));
    fake_.allow(1);  // two warm-ups
    room_.emplace(std::move(models), options, metrics_);
    room_->start();
    room_->wait_until_ready();
    return *room_;
  }

  // Translates in a thread of its own; returns when the job waits.
  std::future<TextAnswer> ask(TextJob job) {
    auto queued = std::make_shared<std::promise<void>>();
    job.on_queued = [queued](int64_t) { queued->set_value(); };
    std::future<void> waits = queued->get_future();
    auto answer = std::async(std::launch::async,
                             [this, job = std::move(job)] { return room_->translate(job); });
    waits.wait();
    // The job enters the line just after it said so.
    std::this_thread::sleep_for(20ms);
    return answer;
  }

  std::vector<std::vector<std::string>> batches() {
    auto all = fake_.batches();
    all.erase(all.begin());  // the second warm-up
    return all;
  }
  void wait_for_batch(size_t count) { fake_.wait_for_batch(count + 1); }

  Metrics metrics_;
  FakeModel fake_;
  std::optional<EngineRoom> room_;
};

std::vector<std::string> texts_of(const TextAnswer& answer) {
  std::vector<std::string> texts;
  for (const TextResult& result : answer.results) texts.push_back(result.text);
  return texts;
}

int status_of(std::future<TextAnswer>& answer) {
  try {
    answer.get();
  } catch (const Refusal& refusal) {
    return refusal.status();
  }
  return 200;
}

TEST_F(EngineRoomTest, AnswersInOrder) {
  room();
  fake_.allow(kAll);
  const TextAnswer answer = room_->translate({.texts = {"a", "b", "c", "d", "e", "f"}});
  EXPECT_THAT(texts_of(answer), ElementsAre("A a", "A b", "A c", "A d", "A e", "A f"));
  EXPECT_THAT(batches(), ElementsAre(ElementsAre("a", "b", "c", "d"), ElementsAre("e", "f")));
  EXPECT_EQ(answer.times.batch_texts, 2);
  EXPECT_EQ(metrics_.queue_texts, 0);
  EXPECT_THAT(room_->translate({}).results, SizeIs(0));
}

TEST_F(EngineRoomTest, TakesTextsOfAllJobsInTurn) {
  room();
  auto first = ask({.texts = {"x"}});  // keeps the device busy
  wait_for_batch(1);
  auto many = ask({.texts = {"a", "b", "c", "d", "e"}});
  auto one = ask({.texts = {"1"}});
  auto two = ask({.texts = {"2", "3"}});
  fake_.allow(kAll);
  EXPECT_THAT(texts_of(one.get()), ElementsAre("A 1"));
  EXPECT_THAT(texts_of(two.get()), ElementsAre("A 2", "A 3"));
  EXPECT_THAT(texts_of(many.get()), ElementsAre("A a", "A b", "A c", "A d", "A e"));
  first.get();
  ASSERT_THAT(batches(), SizeIs(3));
  EXPECT_THAT(batches()[1], ElementsAre("a", "1", "2", "b"));
}

TEST_F(EngineRoomTest, KeepsOptionsModelsAndWatchedTextsApart) {
  room();
  auto first = ask({.texts = {"x"}});
  wait_for_batch(1);
  auto plain = ask({.texts = {"a"}});
  auto steps = ask({.texts = {"b"}, .options = {.steps = 3}});
  auto other = ask({.model = 1, .texts = {"c"}});
  int64_t seen = 0;
  auto watched = ask({.texts = {"d"}, .on_step = [&](const TextStep&) { ++seen; }});
  auto seed = ask({.texts = {"e"}, .seed = 5});
  fake_.allow(kAll);
  for (auto* each : {&first, &plain, &steps, &other, &watched, &seed}) each->get();
  EXPECT_THAT(batches(), ElementsAre(ElementsAre("x"), ElementsAre("a", "e"), ElementsAre("b"),
                                     ElementsAre("c"), ElementsAre("d")))
      << "seeds may differ in a batch";
  EXPECT_EQ(seen, 1);
}

TEST_F(EngineRoomTest, ALongJobHoldsUpOthersForOneBatchOnly) {
  room();
  auto first = ask({.texts = {"x"}});
  wait_for_batch(1);
  auto many = ask({.texts = {"a", "b", "c", "d", "e", "f", "g", "h"}});
  auto other = ask({.texts = {"1"}, .options = {.steps = 3}});
  fake_.allow(kAll);
  for (auto* each : {&first, &many, &other}) each->get();
  EXPECT_THAT(batches()[2], ElementsAre("1")) << "other options, but its turn";
}

TEST_F(EngineRoomTest, TakesATextThatIsLargerThanABatch) {
  room();
  fake_.allow(kAll);
  EXPECT_THAT(texts_of(room_->translate({.texts = {"abcdefgh", "a"}})),
              ElementsAre("A abcdefgh", "A a"));
}

TEST_F(EngineRoomTest, RefusesWhatDoesNotFitIntoTheQueue) {
  room({.queue = 3});
  auto first = ask({.texts = {"x"}});
  wait_for_batch(1);
  auto waiting = ask({.texts = {"a", "b"}});
  EXPECT_EQ(room_->readiness(), Readiness::ready);
  try {
    room_->translate({.texts = {"c", "d"}});
    FAIL();
  } catch (const Refusal& refusal) {
    EXPECT_EQ(refusal.status(), 429);
    EXPECT_GE(refusal.retry_after.value().count(), 1);
  }
  auto last = ask({.texts = {"e"}});
  EXPECT_EQ(room_->readiness(), Readiness::busy);
  EXPECT_EQ(metrics_.queue_texts, 3);
  fake_.allow(kAll);
  for (auto* each : {&first, &waiting, &last}) each->get();
  EXPECT_EQ(metrics_.queue_texts, 0);
  // Longer than the queue, but nothing waits.
  EXPECT_THAT(room_->translate({.texts = {"1", "2", "3", "4", "5"}}).results, SizeIs(5));
  EXPECT_THROW(room_->translate({.texts = std::vector<std::string>(1025, "a")}), Refusal);
}

TEST_F(EngineRoomTest, RefusesWhatWaitedTooLong) {
  room({.deadline = 100ms});
  auto first = ask({.texts = {"x"}});
  wait_for_batch(1);
  auto late = ask({.texts = {"a", "b"}});
  EXPECT_EQ(status_of(late), 503);
  EXPECT_EQ(metrics_.queue_texts, 0);
  fake_.allow(kAll);
  EXPECT_EQ(status_of(first), 200) << "the deadline is for the beginning";
  EXPECT_THAT(batches(), SizeIs(1)) << "what expired is not computed";
}

TEST_F(EngineRoomTest, ForgetsJobsWhoseClientHasLeft) {
  room();
  std::stop_source computed, waiting;
  auto first = ask({.texts = {"x"}, .stop = computed.get_token()});
  wait_for_batch(1);
  auto second = ask({.texts = {"a"}, .stop = waiting.get_token()});
  waiting.request_stop();
  EXPECT_THROW(second.get(), JobStopped);
  computed.request_stop();
  fake_.look();
  EXPECT_THROW(first.get(), JobStopped);
  EXPECT_EQ(metrics_.abandoned, 2u);
  EXPECT_THAT(batches(), SizeIs(1));
  std::stop_source before;
  before.request_stop();
  EXPECT_THROW(room_->translate({.texts = {"a"}, .stop = before.get_token()}), JobStopped);
  fake_.allow(kAll);
  EXPECT_THAT(texts_of(room_->translate({.texts = {"b"}})), ElementsAre("A b"));
}

TEST_F(EngineRoomTest, AsksWhetherAClientIsGone) {
  room();
  std::atomic<bool> gone{false};
  const auto is_gone = [&] { return gone.load(); };
  auto computed = ask({.texts = {"x"}, .gone = is_gone});
  wait_for_batch(1);
  auto waiting = ask({.texts = {"a"}, .gone = is_gone});
  EXPECT_EQ(waiting.wait_for(600ms), std::future_status::timeout);
  gone = true;
  EXPECT_THROW(waiting.get(), JobStopped);
  EXPECT_TRUE(wait_until([&] {
    fake_.look();
    return computed.wait_for(1ms) == std::future_status::ready;
  }));
  EXPECT_THROW(computed.get(), JobStopped);
  EXPECT_EQ(metrics_.abandoned, 2u);
  EXPECT_THAT(batches(), SizeIs(1));
}

TEST_F(EngineRoomTest, AFailureConcernsItsJobAlone) {
  room({}, 100);
  auto first = ask({.texts = {"x"}});
  wait_for_batch(1);
  auto bad = ask({.texts = {"a", "bad", "c"}});
  auto good = ask({.texts = {"d"}});
  fake_.allow(kAll);
  first.get();
  EXPECT_THROW(bad.get(), UsageError);
  EXPECT_THAT(texts_of(good.get()), ElementsAre("A d"));
  EXPECT_THROW(room_->translate({.texts = {"wrong"}}), UsageError) << "before it waits";
  EXPECT_THAT(batches(), SizeIs(2));
}

TEST_F(EngineRoomTest, HalvesBatchesWhenMemoryRunsOut) {
  const ::tessera::test::LogListener log;
  room({}, 4);
  fake_.allow(kAll);
  fake_.fail_with(std::make_exception_ptr(OutOfMemory("no memory", "lower the batch")));
  auto job = ask({.texts = {"a", "b", "c", "d"}});
  EXPECT_EQ(status_of(job), 503);
  fake_.fail_with({});
  room_->translate({.texts = {"e", "f", "g"}});
  EXPECT_THAT(batches(), ElementsAre(SizeIs(4), ElementsAre("e", "f"), ElementsAre("g")));
  EXPECT_THAT(log.text(), HasSubstr("2 tokens at most"));
}

TEST_F(EngineRoomTest, KeepsBatchesWhenATextAloneDoesNotFit) {
  room({}, 4);
  fake_.allow(kAll);
  fake_.fail_with(std::make_exception_ptr(std::bad_alloc()));
  auto job = ask({.texts = {"abcdefgh"}});
  EXPECT_EQ(status_of(job), 503);
  fake_.fail_with({});
  room_->translate({.texts = {"a", "b", "c", "d"}});
  EXPECT_THAT(batches(), ElementsAre(SizeIs(1), SizeIs(4)));
}

// Image number n of a model of images is one value, n.
TEST(EngineRoom, MakesTheImagesOfAJobInParts) {
  std::mutex mutex;
  std::vector<std::string> batches;
  std::atomic<bool> allowed{true}, no_memory{false};
  RoomModel model;
  model.facts.makes_images = true;
  model.batch_tokens = 2;
  model.prepare_images = [](ImageRequest&) {};
  model.run_images = [&](std::span<const ImageRequest> requests) {
    std::vector<ImageResult> results;
    std::string batch;
    for (const ImageRequest& request : requests) {
      ImageResult& result = results.emplace_back();
      result.images = {
          .count = request.count, .height = 1, .width = 1, .channels = 1, .values = {}};
      for (int64_t n = 0; n < request.count; ++n)
        result.images.values.push_back(static_cast<uint8_t>(request.first + n));
      batch += " " + std::to_string(request.first) + "+" + std::to_string(request.count);
    }
    {
      const std::lock_guard lock(mutex);
      batches.push_back(batch);
    }
    EXPECT_TRUE(wait_until([&] { return allowed.load(); }));
    if (no_memory.exchange(false)) throw OutOfMemory("no memory");
    return results;
  };
  Metrics metrics;
  EngineRoom room({model}, {}, metrics);
  room.start();
  room.wait_until_ready();
  allowed = false;
  const auto ask = [&](int64_t first, int64_t count) {
    auto answer = std::async(std::launch::async, [&room, first, count] {
      return room.sample({.request = {.count = count, .first = first}});
    });
    std::this_thread::sleep_for(50ms);
    return answer;
  };
  auto many = ask(10, 5);
  auto one = ask(20, 1);
  EXPECT_EQ(metrics.queue_texts, 4);
  allowed = true;
  EXPECT_THAT(one.get().images.values, ElementsAre(20));
  const ImageAnswer answer = many.get();
  EXPECT_THAT(answer.images.values, ElementsAre(10, 11, 12, 13, 14));
  EXPECT_EQ(answer.images.count, 5);
  EXPECT_EQ(metrics.queue_texts, 0);
  ImageRequest watched{.count = 3};
  watched.on_step = [](const ImageStep&) {};
  EXPECT_EQ(room.sample({.request = watched}).images.count, 3);
  no_memory = true;
  EXPECT_THROW(room.sample({.request = {.count = 2}}), Refusal);
  EXPECT_EQ(room.sample({.request = {.count = 2}}).images.count, 2);
  EXPECT_THAT(batches,
              ElementsAre(" 0+1", " 10+2", " 12+2", " 20+1 14+1", " 0+3", " 0+2", " 0+1", " 1+1"));
}

TEST_F(EngineRoomTest, TellsWhenAJobIsQueuedAndBegun) {
  room();
  auto first = ask({.texts = {"x"}});
  wait_for_batch(1);
  auto second = ask({.texts = {"a", "b"}});
  std::vector<std::string> said;
  TextJob job{.texts = {"c"}};
  job.on_queued = [&](int64_t before) {
    said.push_back("queued " + std::to_string(before));
    fake_.allow(kAll);
  };
  job.on_begin = [&](std::chrono::milliseconds) { said.push_back("begun"); };
  const TextAnswer answer = room_->translate(job);
  EXPECT_THAT(said, ElementsAre("queued 2", "begun"));
  first.get();
  second.get();
}

TEST_F(EngineRoomTest, DrainsWithoutLosingWhatItHas) {
  room();
  auto first = ask({.texts = {"x"}});
  wait_for_batch(1);
  auto second = ask({.texts = {"a"}});
  room_->refuse_new();
  EXPECT_EQ(room_->readiness(), Readiness::draining);
  EXPECT_THROW(room_->translate({.texts = {"b"}}), Refusal);
  EXPECT_FALSE(room_->wait_until_empty(std::chrono::steady_clock::now() + 20ms));
  fake_.allow(kAll);
  EXPECT_TRUE(room_->wait_until_empty(std::chrono::steady_clock::now() + 60s));
  EXPECT_THAT(texts_of(first.get()), ElementsAre("A x"));
  EXPECT_THAT(texts_of(second.get()), ElementsAre("A a"));
}

TEST_F(EngineRoomTest, CutsOffWhatIsAbandoned) {
  room();
  auto first = ask({.texts = {"x"}});
  wait_for_batch(1);
  auto second = ask({.texts = {"a"}});
  room_->refuse_new();
  room_->abandon();
  fake_.look();
  EXPECT_THROW(first.get(), JobStopped);
  EXPECT_THROW(second.get(), JobStopped);
  EXPECT_TRUE(room_->wait_until_empty(std::chrono::steady_clock::now() + 60s));
}

TEST_F(EngineRoomTest, RefusesWhileItLoadsAndReportsAModelThatFails) {
  std::vector<RoomModel> models;
  models.push_back(fake_.model("one"));
  fake_.fail_with(std::make_exception_ptr(Error("no such kernel")));
  EngineRoom cold(std::move(models), {}, metrics_);
  EXPECT_EQ(cold.readiness(), Readiness::loading);
  EXPECT_THROW(cold.translate({.texts = {"a"}}), Refusal);
  cold.start();
  EXPECT_THROW(cold.wait_until_ready(), Error);
}

TEST_F(EngineRoomTest, LosesNothingUnderLoad) {
  room({.queue = 20}, 16);
  fake_.allow(1'000'000);
  std::atomic<int64_t> answered{0}, refused{0};
  std::vector<std::thread> clients;
  for (int c = 0; c < 8; ++c)
    clients.emplace_back([&, c] {
      for (int k = 0; k < 200; ++k) {
        const std::vector<std::string> texts(static_cast<size_t>(1 + (c + k) % 7), "ab");
        try {
          const TextAnswer answer =
              room_->translate({.model = static_cast<size_t>(k % 2), .texts = texts});
          EXPECT_THAT(answer.results, SizeIs(texts.size()));
          EXPECT_THAT(texts_of(answer), Each("A ab"));
          ++answered;
        } catch (const Refusal& refusal) {
          EXPECT_EQ(refusal.status(), 429);
          ++refused;
        }
      }
    });
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(answered + refused, 8 * 200);
  EXPECT_GT(answered, 0);
  EXPECT_EQ(metrics_.queue_texts, 0);
}

}  // namespace
}  // namespace tessera::serve
