#pragma once

#include "image/dataset.h"
#include "image/image_source.h"
#include "image_metric/extractor.h"
#include "image_metric/statistics.h"

#include <filesystem>
#include <functional>
#include <optional>

namespace tessera::evaluation {

// Statistics of the features of the first `count` images of a source.
//   name  of the images, for people: "training images"
//   also  receives the features [n, D] of every batch, too
image_metric::Statistics feature_statistics(
    const image_metric::Extractor& extractor, const image::ImageSource& images, int64_t count,
    int64_t batch, const std::string& name,
    const std::function<void(const at::Tensor&)>& also = {});

// Makes images and hands them over, some at a time: [n, C, H, W] uint8.
using ImageStream = std::function<void(const std::function<void(const at::Tensor& images)>& take)>;

// How far images a model makes are from real ones: the Fréchet distance of their features.
class ImageDistance {
 public:
  //   features    TorchScript file of the extractor
  //   statistics  file with those of the training images: read if it exists, else computed and
  //               written; empty: computed and not kept
  // Throws Error if the statistics are known to be of another extractor or another data set.
  //   pause       called now and then; what it throws ends the work
  ImageDistance(const std::filesystem::path& features, const std::filesystem::path& statistics,
                const image::Dataset& dataset, at::Device device,
                const std::function<void()>& pause = {});

  // Throws what the constructor would, before long work.
  static void check(const std::filesystem::path& features, const std::filesystem::path& statistics,
                    const image::Dataset& dataset);

  struct Result {
    double distance = 0;
    int64_t samples = 0;
    double seconds = 0;                  // to make the images, without extraction
    std::optional<std::string> warning;  // about too few samples
  };

  // Measures `count` images, which need not fit into memory.
  //   stream  makes that many, or this process's share of them
  //   also    receives every batch of images [n, C, H, W] uint8 and their features [n, D], too
  //   sum     adds up values over the processes that make a share; empty: this one makes all
  Result measure(
      int64_t count, const ImageStream& stream,
      const std::function<void(const at::Tensor& images, const at::Tensor& features)>& also = {},
      const std::function<void(const at::Tensor& values)>& sum = {}) const;

  const image_metric::Extractor& extractor() const { return extractor_; }
  const std::string& name() const { return name_; }  // "FD-ResNet"

 private:
  image_metric::Extractor extractor_;
  std::string name_;
  image_metric::Statistics real_;
};

}  // namespace tessera::evaluation
