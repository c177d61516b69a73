#pragma once

#include <tessera/engine/image_request.h>
#include <tessera/engine/text_request.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <stop_token>
#include <string>
#include <vector>

#include "serve/served_model.h"

namespace tessera::serve {

// Texts that one client wants from one model, with equal options.
struct TextJob {
  size_t model = 0;                     // place in Service::models()
  std::vector<std::string> texts = {};  // single sentences, UTF-8
  uint64_t seed = 1;
  GenerateOptions options = {};
  std::stop_token stop = {};
  // Asked now and then by the thread that waits for the job: true stops it.
  std::function<bool()> gone = {};
  // Called before the job waits, with the number of texts before it; and when it begins.
  std::function<void(int64_t before)> on_queued = {};
  std::function<void(std::chrono::milliseconds queued)> on_begin = {};
  // For a single text; called from the thread that computes.
  std::function<void(const TextStep&)> on_step = {};
};

struct ImageJob {
  size_t model = 0;
  ImageRequest request = {};  // with its own stop token and step hook; no `take`
  std::function<bool()> gone = {};
  std::function<void(int64_t before)> on_queued = {};
  std::function<void(std::chrono::milliseconds queued)> on_begin = {};
};

// How long a job waited and was computed.
struct JobTimes {
  std::chrono::microseconds queued{0}, computed{0};
  int64_t batch_texts = 0;  // texts in the batch that held its last text
};

struct TextAnswer {
  std::vector<TextResult> results = {};  // one per text, all done
  JobTimes times = {};
};

struct ImageAnswer {
  Images images = {};
  int64_t nfe = 0;
  JobTimes times = {};
};

// What the routes stand on: models, and a queue in front of them. Threads may share one.
class Service {
 public:
  virtual ~Service() = default;

  virtual std::span<const ModelFacts> models() const = 0;
  virtual const Engine& engine(size_t model) const = 0;

  // Waits for its turn and computes. Throws Refusal if the queue is full (429), the server is
  // loading or draining, the deadline passed, or the device has no memory for it (503); Error for
  // what the model refuses; JobStopped if the job's stop token asked for it.
  virtual TextAnswer translate(TextJob job) = 0;
  virtual ImageAnswer sample(ImageJob job) = 0;
};

// A job whose client has left, or that was cut off by the end of the server.
class JobStopped : public std::exception {
 public:
  const char* what() const noexcept override { return "the job was stopped"; }
};

}  // namespace tessera::serve
