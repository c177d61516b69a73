#pragma once

#include <tessera/base/api.h>
#include <tessera/engine/images.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tessera {

// How an ImageSampler works. Options that are not set come from the model's folder.
struct ImageSamplerOptions {
  std::string device = "auto";          // auto, cpu, cuda or cuda:N
  std::string precision = "auto";       // float32, bfloat16, or auto: bfloat16 on CUDA only
  std::string checkpoint = {};          // of a run: best, last or a step; empty: best, else last
  std::optional<int64_t> steps = {};    // of the sampler: more are slower
  std::optional<double> r = {};         // confidence factor of sampling, 0 to 1
  std::optional<double> guidance = {};  // 1: as trained; above: images show their class more
  std::optional<int64_t> batch = {};    // images made at a time; lower it if memory runs out
  uint64_t seed = 1;
};

// A trained model of images, loaded from a folder.
//   tessera::ImageSampler sampler("runs/bits");
//   const tessera::Images images = sampler.sample(64);
// Threads may share one. The noise of image number n is a function of (seed, n), however many are
// made at a time; the images are equal up to rounding. Throws tessera::Error for folders that
// cannot be loaded, UsageError for options and classes that make no sense.
class TESSERA_API ImageSampler {
 public:
  // A model folder, or the folder of a training run.
  explicit ImageSampler(const std::filesystem::path& folder,
                        const ImageSamplerOptions& options = {});
  ~ImageSampler();
  ImageSampler(ImageSampler&&) noexcept;
  ImageSampler& operator=(ImageSampler&&) noexcept;

  // Names of the classes the model is told; empty: none.
  const std::vector<std::string>& classes() const;

  // Images number first, ..., first + count - 1.
  //   label  a class by name or number; empty: all classes in turn, if the model is told them
  Images sample(int64_t count, int64_t first = 0, const std::string& label = {}) const;

 private:
  struct State;
  std::unique_ptr<const State> state_;
};

}  // namespace tessera
