#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "serve/metrics.h"
#include "serve/service.h"

namespace tessera::serve {

// A model as the room computes with it. Tests bring functions of their own.
struct RoomModel {
  ModelFacts facts;
  const Engine* engine = nullptr;
  std::string device = "cpu";  // models of one device share a thread
  // Text models: candidates x symbols of a batch. Image models: images of a batch, at least 1.
  int64_t batch_tokens = 512;

  // Called in the thread of the request: sets the options that a request leaves to the defaults and
  // checks all of it. A text becomes symbols; returned are the tokens it will take in a batch.
  std::function<int64_t(TextRequest&)> prepare_text = {};
  std::function<void(ImageRequest&)> prepare_images = {};
  std::function<std::vector<TextResult>(std::span<const TextRequest>)> run_texts = {};
  std::function<std::vector<ImageResult>(std::span<const ImageRequest>)> run_images = {};
};

// Limits of what a request may ask of a model. What a model's defaults ask for is always allowed.
struct WorkLimits {
  int64_t candidates = 64;
  int64_t steps = 1000;
  int64_t images = 64;
};

// The functions of a loaded model. The engine must outlive what is returned.
//   ..._defaults  what requests leave open. Throws UsageError for those that make no sense
RoomModel room_model(const Engine& engine, ModelFacts facts, const GenerateOptions& text_defaults,
                     const SampleOptions& image_defaults, const WorkLimits& limits);

struct RoomOptions {
  int64_t queue = 256;                         // texts and images that may wait, over all jobs
  int64_t longest_job = 1024;                  // texts of a job, however few wait
  std::chrono::milliseconds deadline{30'000};  // that a job may wait before it is begun
};

enum class Readiness { loading, ready, busy, draining };

// The models, a thread for each device that computes, and the jobs that wait in front of them.
//
// A batch has texts, or images, of one model with equal options; those of watched jobs stand apart,
// and their images together. The job
// whose turn it is says which; its texts and those of others that fit are taken in turn, one from
// each job, until the batch is full. Jobs with texts left then go to the end of the line, so a long
// one holds up nobody for more than a batch. A batch begins as soon as the device is free: what
// comes meanwhile is the next.
class EngineRoom : public Service {
 public:
  EngineRoom(std::vector<RoomModel> models, const RoomOptions& options, Metrics& metrics);
  ~EngineRoom() override;

  // Starts the threads, which first run every model once. Until then jobs are refused.
  void start();
  // Returns when all models have run; throws what one of them threw.
  void wait_until_ready();

  Readiness readiness() const;

  // From now on new jobs are refused (503).
  void refuse_new();
  // Whether no job is left at `limit`, or before.
  bool wait_until_empty(std::chrono::steady_clock::time_point limit);
  // Jobs that wait or are computed end with JobStopped.
  void abandon();

  std::span<const ModelFacts> models() const override { return facts_; }
  const Engine& engine(size_t model) const override;
  TextAnswer translate(TextJob job) override;
  ImageAnswer sample(ImageJob job) override;

 private:
  using Clock = std::chrono::steady_clock;
  struct Job;
  struct Batch;
  struct Device;
  struct Model;

  void wait_for(const std::shared_ptr<Job>& job, const std::stop_token& client,
                const std::function<bool()>& gone, const std::function<void(int64_t)>& on_queued);
  void leave_line(const std::shared_ptr<Job>& job);
  std::chrono::seconds retry_after(const Device& device) const;
  void work(Device& device);
  void warm_up(Device& device);
  Batch next_batch(Device& device);
  void compute(Batch& batch);
  void hand_out(Device& device, Batch& batch);
  void note_memory(Model& model, int64_t too_many);

  std::vector<ModelFacts> facts_;
  RoomOptions options_;
  Metrics& metrics_;

  mutable std::mutex mutex_;  // guards what follows
  std::condition_variable state_changed_;
  std::vector<std::unique_ptr<Model>> models_;
  std::vector<std::unique_ptr<Device>> devices_;
  std::list<std::shared_ptr<Job>> under_way_;  // jobs that somebody waits for
  int64_t waiting_ = 0;                        // texts that wait
  size_t cold_ = 0;                            // devices that are not ready yet
  bool refusing_ = false, ending_ = false;
  std::exception_ptr failure_;  // of the warm-up
};

}  // namespace tessera::serve
