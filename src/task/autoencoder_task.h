#pragma once

#include "image/dataset.h"
#include "image_model/autoencoder.h"
#include "task/image_batcher.h"
#include "task/image_options.h"
#include "train/task.h"

#include <memory>

namespace tessera::task {

// Images: a data set, and an autoencoder that learns codes for them.
class AutoencoderTask final : public train::Task {
 public:
  AutoencoderTask(const ImageOptions& options, image::Dataset dataset, uint64_t seed,
                  at::Device device);

  nn::Trainable& model() override { return *model_; }
  const nn::Trainable& model() const override { return *model_; }
  int64_t batches(int64_t) const override { return batcher_.batches(); }
  nn::Inputs batch(int64_t epoch, int64_t number) const override {
    return batcher_.batch(epoch, number);
  }
  train::Validation validate(const at::Tensor& weights, int64_t step,
                             const std::function<void()>& pause) override;
  std::string score_text(double score) const override;
  safetensors::File weights_of(const std::filesystem::path& run_or_model) const override;
  void write_model(const std::filesystem::path& folder, const at::Tensor& weights,
                   int64_t step) const override;
  std::filesystem::path data() const override { return dataset_.folder(); }
  std::string fingerprint() const override { return dataset_.fingerprint(); }
  std::string unit() const override { return "images"; }
  std::string memory_hint() const override;
  std::vector<train::Fact> facts() const override;
  std::vector<std::string> next_commands(const std::filesystem::path& run) const override;

 private:
  ImageOptions options_;
  image::Dataset dataset_;
  uint64_t seed_;
  std::unique_ptr<image_model::Autoencoder> model_;
  ImageBatcher batcher_;
  const image::Split& held_out_;
};

}  // namespace tessera::task
