#pragma once

#include <ATen/core/Tensor.h>

#include <filesystem>
#include <memory>
#include <string>

namespace tessera::image_metric {

// A network that turns images into feature vectors, from a TorchScript file. It is given the images
// as numbers 0 to 255 and does the rest itself. A network whose forward has an argument
// `return_features` (as published Inception files have) is asked for features through it.
class Extractor {
 public:
  //   precision  float32 or float16, of the computation
  // Throws Error for a file that is missing or is not TorchScript.
  explicit Extractor(const std::filesystem::path& file, at::Device device = at::kCPU,
                     at::ScalarType precision = at::kFloat);
  ~Extractor();
  Extractor(Extractor&&) noexcept;
  Extractor& operator=(Extractor&&) noexcept;

  // images [N, C, H, W] uint8, on any device, to features [N, D] float32 on the extractor's. Throws
  // Error if the network refuses them or returns something else, or not-a-number (on CUDA: with
  // raise_deferred_errors()).
  at::Tensor features(const at::Tensor& images) const;

  // Whether the file has a method `logits` beside forward, and what it says about images: [N, K].
  bool has_logits() const;
  at::Tensor logits(const at::Tensor& images) const;
  at::Tensor class_probabilities(const at::Tensor& images) const;  // their softmax

  const std::string& file_name() const { return file_name_; }  // without folders
  const std::string& hash() const { return hash_; }            // content_hash() of the file
  std::string short_hash() const { return hash_.substr(0, 16); }
  at::Device device() const { return device_; }

 private:
  struct Network;

  at::Tensor call(const std::string& method, const at::Tensor& images) const;

  std::unique_ptr<Network> network_;
  std::string file_name_, hash_;
  at::Device device_;
  at::ScalarType precision_;
};

}  // namespace tessera::image_metric
