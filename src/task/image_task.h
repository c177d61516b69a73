#pragma once

#include "evaluation/image_distance.h"
#include "image/dataset.h"
#include "image_model/image_generator.h"
#include "image_model/image_model.h"
#include "task/image_batcher.h"
#include "task/image_options.h"
#include "train/task.h"

#include <memory>
#include <optional>

namespace tessera::task {

// Images: a data set, and a model that learns to make such images.
class ImageTask final : public train::Task {
 public:
  ImageTask(const ImageOptions& options, image::Dataset dataset, uint64_t seed, at::Device device,
            ranks::Group& group = ranks::alone());

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
  double validation_loss(nlohmann::ordered_json& line, const std::function<void()>& pause);
  void open_distance(const std::function<void()>& pause);
  evaluation::ImageDistance::Result measure_distance(const image_model::ImageGenerator& generator,
                                                     const std::function<void()>& pause);
  // As a data URI.
  std::string shown_images(const image_model::ImageGenerator& generator,
                           const std::function<void()>& pause) const;

  ImageOptions options_;
  ranks::Group& group_;
  image::Dataset dataset_;
  uint64_t seed_;
  std::unique_ptr<image_model::ImageModel> model_;
  ImageBatcher batcher_;
  const image::Split& held_out_;
  std::optional<evaluation::ImageDistance> distance_;  // made when it is first asked for
};

}  // namespace tessera::task
