#pragma once

#include "engine/option_list.h"
#include "image_model/image_folder.h"
#include "image_model/image_generator.h"

#include <tessera/engine/image_request.h>
#include <tessera/engine/load_options.h>

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace tessera::engine {

// An Engine of a model of images.
class ImageEngine {
 public:
  ImageEngine(const std::filesystem::path& model_folder, const LoadOptions& options,
              at::Device device);

  const image_model::ImageModel& model() const { return *loaded_.model; }

  std::vector<ImageResult> run(std::span<const ImageRequest> requests) const;

  // Throws UsageError for options that make no sense; `spelling` is how the message names them.
  SampleOptions in_effect(const SampleOptions& changes, Spelling spelling = Spelling::field) const;

  std::vector<std::string> classes() const;  // that the network is told
  Images image_size() const;                 // as Images with a count of 0

 private:
  struct Group;
  struct Call;

  image_model::SamplingOptions resolved(const SampleOptions& changes, Spelling spelling) const;
  void run_group(const Group& group, const Call& call) const;

  image_model::LoadedImageModel loaded_;
};

// [n, C, H, W] uint8 on the CPU to images, and back.
Images to_images(const at::Tensor& pictures);
at::Tensor to_pictures(const Images& images);

}  // namespace tessera::engine
