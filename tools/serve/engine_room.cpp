#include "serve/engine_room.h"

#include "base/log.h"
#include "base/require.h"
#include "tensor/out_of_memory.h"

#include <tessera/base/out_of_memory.h>

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <new>
#include <utility>

#include "serve/refusal.h"

namespace tessera::serve {
namespace {

using std::chrono::duration_cast;
using std::chrono::microseconds;
using std::chrono::milliseconds;
using std::chrono::seconds;

constexpr milliseconds kGlance{250};  // how often a waiting thread asks whether its client is there

bool says_out_of_memory(const std::exception_ptr& failure) {
  if (!failure) return false;
  try {
    std::rethrow_exception(failure);
  } catch (const OutOfMemory&) {
    return true;
  } catch (const c10::Error& error) {
    return is_out_of_memory(error);
  } catch (const std::bad_alloc&) {
    return true;
  } catch (...) {
    return false;
  }
}

Refusal out_of_memory() {
  Refusal refusal(503, "the device has not enough memory for this now",
                  "try again; fewer candidates or shorter texts need less");
  refusal.reason = RefusedBecause::memory;
  refusal.retry_after = seconds(1);
  return refusal;
}

Refusal not_now(std::string message, RefusedBecause reason, seconds retry) {
  Refusal refusal(503, std::move(message));
  refusal.reason = reason;
  refusal.retry_after = retry;
  return refusal;
}

// Appends the images of a part.
void append(ImageResult& part, ImageAnswer& answer) {
  answer.nfe = part.nfe;
  if (answer.images.count == 0) {
    answer.images = std::move(part.images);
    return;
  }
  answer.images.count += part.images.count;
  answer.images.values.insert(answer.images.values.end(), part.images.values.begin(),
                              part.images.values.end());
}

}  // namespace

// A client's texts or images on their way, in parts: single texts, or some images. Guarded by the
// room's mutex.
struct EngineRoom::Job {
  size_t model = 0;
  bool watched = false;
  std::vector<TextRequest> texts = {};
  std::vector<int64_t> tokens = {};  // of each text
  std::optional<ImageRequest> image = {};
  int64_t stride = 1;  // images of a part
  std::function<void(milliseconds)> on_begin = {};
  Clock::time_point arrived = Clock::now();

  std::condition_variable changed = {};
  std::stop_source stop = {};                // of the client, or of the room
  size_t taken = 0, done = 0, in_batch = 0;  // parts
  bool begun = false;
  std::exception_ptr failure = {};
  JobTimes times = {};
  std::vector<TextResult> results = {};
  std::vector<ImageResult> image_results = {};  // of each part

  size_t parts() const { return image ? image_results.size() : texts.size(); }
  int64_t items() const { return image ? image->count : static_cast<int64_t>(texts.size()); }
  int64_t items_before(size_t part) const {
    const auto place = static_cast<int64_t>(part);
    return image ? std::min(place * stride, image->count) : place;
  }
  int64_t items_of(size_t part) const { return items_before(part + 1) - items_before(part); }
  int64_t items_waiting() const { return items() - items_before(taken); }
  int64_t items_left() const { return failure || stop.stop_requested() ? 0 : items_waiting(); }
  int64_t tokens_of(size_t part) const { return image ? items_of(part) : tokens[part]; }
  bool over() const { return in_batch == 0 && (failure || done == parts()); }

  // Whether texts of both may stand in one batch.
  bool fits(const Job& other) const {
    if (model != other.model || watched != other.watched) return false;
    if (image) return image->options == other.image->options;
    return texts.front().options == other.texts.front().options;
  }
};

struct EngineRoom::Batch {
  size_t model = 0;
  struct Part {
    std::shared_ptr<Job> job;
    size_t place = 0;  // in the job
  };
  std::vector<Part> parts = {};
  std::vector<std::pair<std::shared_ptr<Job>, milliseconds>> begun = {};  // for the first time
  int64_t tokens = 0, items = 0;

  std::vector<TextResult> texts = {};
  std::vector<ImageResult> images = {};
  std::exception_ptr failure = {};  // of all of it
  Clock::duration took{};
};

struct EngineRoom::Device {
  std::string name;
  std::vector<size_t> models = {};
  std::deque<std::shared_ptr<Job>> line = {};  // jobs with texts left, the next one first
  std::condition_variable work = {};
  double tokens_per_second = 0;  // of late; 0: unknown
  std::thread thread = {};

  int64_t waiting_tokens() const {
    int64_t sum = 0;
    for (const auto& job : line)
      for (size_t k = job->taken; k < job->parts(); ++k) sum += job->tokens_of(k);
    return sum;
  }
};

struct EngineRoom::Model {
  RoomModel given;
  Metrics::Model& metrics;
  Device& device;
};

EngineRoom::EngineRoom(std::vector<RoomModel> models, const RoomOptions& options, Metrics& metrics)
    : options_(options), metrics_(metrics) {
  for (RoomModel& model : models) {
    auto device =
        std::ranges::find(devices_, model.device, [](const auto& each) { return each->name; });
    if (device == devices_.end()) {
      devices_.push_back(std::make_unique<Device>());
      device = std::prev(devices_.end());
      (*device)->name = model.device;
    }
    (*device)->models.push_back(models_.size());
    const ModelFacts& facts = facts_.emplace_back(model.facts);
    Metrics::Model& counted =
        metrics.add_model(facts.name, facts.makes_images ? "images" : "text",
                          facts.source.empty() ? "" : facts.source + ":" + facts.target);
    models_.push_back(std::make_unique<Model>(Model{std::move(model), counted, **device}));
  }
  cold_ = devices_.size();
}

EngineRoom::~EngineRoom() {
  refuse_new();
  abandon();
  {
    const std::lock_guard lock(mutex_);
    ending_ = true;
    for (const auto& device : devices_) device->work.notify_all();
  }
  for (const auto& device : devices_)
    if (device->thread.joinable()) device->thread.join();
}

void EngineRoom::start() {
  for (const auto& device : devices_)
    device->thread = std::thread([this, &device = *device] { work(device); });
}

void EngineRoom::wait_until_ready() {
  std::unique_lock lock(mutex_);
  state_changed_.wait(lock, [&] { return cold_ == 0 || failure_; });
  if (failure_) std::rethrow_exception(failure_);
}

Readiness EngineRoom::readiness() const {
  const std::lock_guard lock(mutex_);
  if (refusing_) return Readiness::draining;
  if (cold_ > 0) return Readiness::loading;
  return waiting_ >= options_.queue ? Readiness::busy : Readiness::ready;
}

void EngineRoom::refuse_new() {
  const std::lock_guard lock(mutex_);
  refusing_ = true;
}

bool EngineRoom::wait_until_empty(Clock::time_point limit) {
  std::unique_lock lock(mutex_);
  return state_changed_.wait_until(lock, limit, [&] { return under_way_.empty(); });
}

void EngineRoom::abandon() {
  const std::lock_guard lock(mutex_);
  for (const auto& job : under_way_) {
    job->stop.request_stop();
    job->changed.notify_all();
  }
}

const Engine& EngineRoom::engine(size_t model) const {
  const Engine* engine = models_[model]->given.engine;
  require(engine != nullptr, "model {} has no engine", model);
  return *engine;
}

TextAnswer EngineRoom::translate(TextJob job) {
  const RoomModel& model = models_[job.model]->given;
  require_option(!model.facts.makes_images, "'{}' makes images, not texts", model.facts.name);
  TextAnswer answer;
  if (job.texts.empty()) return answer;
  if (static_cast<int64_t>(job.texts.size()) > options_.longest_job)
    throw Refusal(400,
                  fmt::format("the request has {} sentences, and {} is the most", job.texts.size(),
                              options_.longest_job),
                  "send it in parts");
  auto waiting = std::make_shared<Job>();
  waiting->model = job.model;
  waiting->watched = static_cast<bool>(job.on_step);
  waiting->on_begin = std::move(job.on_begin);
  require_option(!job.on_step || job.texts.size() == 1, "only a single text can be watched");
  for (std::string& text : job.texts) {
    TextRequest& request = waiting->texts.emplace_back();
    request.text = std::move(text);
    request.seed = job.seed;
    request.options = job.options;
    request.stop = waiting->stop.get_token();
    request.on_step = job.on_step;
    request.line = 0;  // a translation does not depend on its place among others
    waiting->tokens.push_back(model.prepare_text(request));
  }
  waiting->results.resize(waiting->texts.size());
  wait_for(waiting, job.stop, job.gone, job.on_queued);
  return {std::move(waiting->results), waiting->times};
}

ImageAnswer EngineRoom::sample(ImageJob job) {
  const RoomModel& model = models_[job.model]->given;
  require_option(model.facts.makes_images, "'{}' makes texts, not images", model.facts.name);
  require_option(!job.request.take, "images of a job come with its answer");
  auto waiting = std::make_shared<Job>();
  waiting->model = job.model;
  waiting->watched = static_cast<bool>(job.request.on_step);
  waiting->on_begin = std::move(job.on_begin);
  const std::stop_token client = job.request.stop;
  waiting->image = std::move(job.request);
  waiting->image->stop = waiting->stop.get_token();
  model.prepare_images(*waiting->image);
  const int64_t count = waiting->image->count;
  {
    const std::lock_guard lock(mutex_);  // batch_tokens may shrink
    waiting->stride = waiting->watched ? count : model.batch_tokens;
  }
  waiting->image_results.resize(
      static_cast<size_t>((count + waiting->stride - 1) / waiting->stride));
  wait_for(waiting, client, job.gone, job.on_queued);
  ImageAnswer answer;
  for (ImageResult& part : waiting->image_results) append(part, answer);
  answer.times = waiting->times;
  return answer;
}

// Enters the line and returns when all is computed.
void EngineRoom::wait_for(const std::shared_ptr<Job>& job, const std::stop_token& client,
                          const std::function<bool()>& gone,
                          const std::function<void(int64_t)>& on_queued) {
  Device& device = models_[job->model]->device;
  int64_t before = 0;
  {
    const std::lock_guard lock(mutex_);
    if (refusing_)
      throw not_now("the server is shutting down", RefusedBecause::draining, seconds(5));
    if (cold_ > 0) throw not_now("the server is loading", RefusedBecause::loading, seconds(2));
    // A job that is longer than the queue has to come when nothing waits.
    if (waiting_ > 0 && waiting_ + job->items() > options_.queue) {
      Refusal refusal(429, "too many texts wait already", "try again later");
      refusal.reason = RefusedBecause::full;
      refusal.retry_after = retry_after(device);
      throw refusal;
    }
    before = waiting_;
    waiting_ += job->items();
    metrics_.queue_texts = waiting_;
    under_way_.push_back(job);
  }
  // Whatever happens, the job leaves the room before its caller goes on.
  struct Leave {
    EngineRoom& room;
    const std::shared_ptr<Job>& job;
    ~Leave() {
      std::unique_lock lock(room.mutex_);
      job->stop.request_stop();
      room.leave_line(job);
      job->changed.wait(lock, [&] { return job->in_batch == 0; });
      room.under_way_.remove(job);
      if (room.under_way_.empty()) room.state_changed_.notify_all();
    }
  } leave{*this, job};
  if (on_queued) on_queued(before);

  const std::stop_callback client_left(client, [&] {
    job->stop.request_stop();
    const std::lock_guard lock(mutex_);
    job->changed.notify_all();
  });
  std::unique_lock lock(mutex_);
  if (refusing_ && job->stop.stop_requested()) throw JobStopped();
  device.line.push_back(job);
  device.work.notify_one();
  const auto stopped = [&] { return job->stop.stop_requested(); };
  // False: not by `limit`.
  const auto wait_until = [&](Clock::time_point limit, const std::function<bool()>& met) {
    while (!met()) {
      const Clock::time_point now = Clock::now();
      if (now >= limit) return false;
      job->changed.wait_until(lock, std::min(limit, now + kGlance), met);
      if (!gone || met()) continue;
      lock.unlock();
      const bool left = gone();
      lock.lock();
      if (left) job->stop.request_stop();
    }
    return true;
  };
  if (!wait_until(job->arrived + options_.deadline, [&] { return job->begun || stopped(); }))
    throw not_now(fmt::format("the text waited {} seconds and was not begun",
                              duration_cast<seconds>(options_.deadline).count()),
                  RefusedBecause::deadline, retry_after(device));
  wait_until(Clock::time_point::max(),
             [&] { return job->over() || (stopped() && job->in_batch == 0); });
  if (job->done == job->parts() && !job->failure) return;
  if (job->failure && !stopped()) std::rethrow_exception(job->failure);
  ++metrics_.abandoned;
  throw JobStopped();
}

// Takes what is left of a job out of the line. With the mutex held.
void EngineRoom::leave_line(const std::shared_ptr<Job>& job) {
  waiting_ -= job->items_waiting();
  metrics_.queue_texts = waiting_;
  job->taken = job->parts();
  std::erase(models_[job->model]->device.line, job);
}

std::chrono::seconds EngineRoom::retry_after(const Device& device) const {
  if (device.tokens_per_second <= 0) return seconds(1);
  const double wait = static_cast<double>(device.waiting_tokens()) / device.tokens_per_second;
  return seconds(static_cast<int64_t>(std::clamp(std::ceil(wait), 1.0, 600.0)));
}

void EngineRoom::work(Device& device) {
  try {
    warm_up(device);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    failure_ = std::current_exception();
    state_changed_.notify_all();
    return;
  }
  std::unique_lock lock(mutex_);
  --cold_;
  state_changed_.notify_all();
  while (true) {
    device.work.wait(lock, [&] { return ending_ || !device.line.empty(); });
    if (ending_) return;
    Batch batch = next_batch(device);
    if (batch.parts.empty()) continue;
    lock.unlock();
    compute(batch);
    lock.lock();
    hand_out(device, batch);
  }
}

// The first batch is slow: memory is taken and kernels are chosen.
void EngineRoom::warm_up(Device& device) {
  for (const size_t place : device.models) {
    const RoomModel& model = models_[place]->given;
    if (model.facts.makes_images) {
      ImageRequest request;
      model.prepare_images(request);
      for (const ImageResult& result : model.run_images(std::span(&request, 1)))
        result.require_done();
    } else {
      TextRequest request{.text = "a", .line = 0};
      model.prepare_text(request);
      for (const TextResult& result : model.run_texts(std::span(&request, 1)))
        result.require_done();
    }
  }
}

// With the mutex held.
EngineRoom::Batch EngineRoom::next_batch(Device& device) {
  Batch batch;
  std::erase_if(device.line, [&](const auto& job) { return job->items_left() == 0; });
  if (device.line.empty()) return batch;
  const auto now = Clock::now();
  const std::shared_ptr<Job> first = device.line.front();
  const Model& model = *models_[first->model];
  batch.model = first->model;
  bool full = false;
  while (!full) {
    const size_t before = batch.parts.size();
    for (const std::shared_ptr<Job>& job : device.line) {
      if (job->items_left() == 0 || !job->fits(*first)) continue;
      const int64_t tokens = job->tokens_of(job->taken);
      full = !batch.parts.empty() && batch.tokens + tokens > model.given.batch_tokens;
      if (full) break;
      const int64_t items = job->items_of(job->taken);
      batch.parts.push_back({job, job->taken++});
      batch.tokens += tokens;
      batch.items += items;
      ++job->in_batch;
      waiting_ -= items;
      if (job->begun) continue;
      job->begun = true;
      job->times.queued = duration_cast<microseconds>(now - job->arrived);
      metrics_.queue_seconds.add(std::chrono::duration<double>(now - job->arrived).count());
      batch.begun.emplace_back(job, duration_cast<milliseconds>(now - job->arrived));
      job->changed.notify_all();
    }
    if (batch.parts.size() == before) break;
  }
  metrics_.queue_texts = waiting_;
  std::stable_partition(device.line.begin(), device.line.end(),
                        [&](const auto& job) { return job->in_batch == 0; });
  std::erase_if(device.line, [](const auto& job) { return job->items_left() == 0; });
  return batch;
}

void EngineRoom::compute(Batch& batch) {
  const Model& model = *models_[batch.model];
  for (const auto& [job, queued] : batch.begun) {
    if (!job->on_begin) continue;
    try {
      job->on_begin(queued);
    } catch (...) {
      job->stop.request_stop();
    }
  }
  const auto begin = Clock::now();
  int64_t calls = 0;
  try {
    if (batch.parts.front().job->image) {
      std::vector<ImageRequest> requests;
      for (const auto& [job, place] : batch.parts) {
        ImageRequest& request = requests.emplace_back(*job->image);
        request.first += job->items_before(place);
        request.count = job->items_of(place);
      }
      batch.images = model.given.run_images(requests);
      for (const ImageResult& result : batch.images) calls = std::max(calls, result.nfe);
    } else {
      std::vector<TextRequest> requests;
      for (const Batch::Part& part : batch.parts)
        requests.push_back(std::move(part.job->texts[part.place]));
      batch.texts = model.given.run_texts(requests);
      // The options say which jobs belong together, so they must stay.
      for (size_t k = 0; k < batch.parts.size(); ++k)
        batch.parts[k].job->texts[batch.parts[k].place].options = std::move(requests[k].options);
      for (const TextResult& result : batch.texts) calls = std::max(calls, result.nfe);
    }
  } catch (...) {
    batch.failure = std::current_exception();
  }
  batch.took = Clock::now() - begin;
  model.metrics.batch_texts.add(static_cast<double>(batch.items));
  model.metrics.batch_tokens.add(static_cast<double>(batch.tokens));
  model.metrics.batch_seconds.add(std::chrono::duration<double>(batch.took).count());
  model.metrics.network_calls += static_cast<uint64_t>(calls);
}

// With the mutex held.
void EngineRoom::hand_out(Device& device, Batch& batch) {
  bool no_memory = false;
  const auto failed = [&](Job& job, std::exception_ptr failure) {
    if (says_out_of_memory(failure)) {
      no_memory = true;
      failure = std::make_exception_ptr(out_of_memory());
    }
    if (!job.failure) job.failure = std::move(failure);
  };
  const Job* counted = nullptr;
  for (size_t k = 0; k < batch.parts.size(); ++k) {
    auto& [job, place] = batch.parts[k];
    --job->in_batch;
    if (counted != job.get()) job->times.batch_texts = batch.items;
    counted = job.get();
    if (batch.failure) {
      failed(*job, batch.failure);
    } else if (job->image) {
      ImageResult& result = job->image_results[place] = std::move(batch.images[k]);
      if (result.outcome == Outcome::done) ++job->done;
      if (result.outcome == Outcome::failed) failed(*job, result.failure);
    } else {
      job->results[place] = std::move(batch.texts[k]);
      if (job->results[place].outcome == Outcome::done) ++job->done;
      if (job->results[place].outcome == Outcome::failed) failed(*job, job->results[place].failure);
    }
  }
  std::vector<Job*> jobs;  // each once
  for (const Batch::Part& part : batch.parts) jobs.push_back(part.job.get());
  std::ranges::sort(jobs);
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());
  for (Job* job : jobs) {
    job->times.computed += duration_cast<microseconds>(batch.took);
    job->changed.notify_all();
  }
  const double took = std::chrono::duration<double>(batch.took).count();
  if (took > 0) {
    const double rate = static_cast<double>(batch.tokens) / took;
    double& usual = device.tokens_per_second;
    usual = usual == 0 ? rate : 0.8 * usual + 0.2 * rate;
  }
  // A text or image alone that does not fit says nothing of batches.
  if (no_memory && batch.items > 1) note_memory(*models_[batch.model], batch.tokens);
}

void EngineRoom::note_memory(Model& model, int64_t too_many) {
  int64_t& tokens = model.given.batch_tokens;
  tokens = std::max<int64_t>(1, std::min(tokens, too_many) / 2);
  log::warn("{}: out of memory; batches have {} tokens at most from now on", model.given.facts.name,
            tokens);
}

}  // namespace tessera::serve
