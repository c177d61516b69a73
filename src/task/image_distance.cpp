#include "task/image_distance.h"

#include "base/log.h"
#include "base/progress.h"
#include "distance/distance_name.h"
#include "distance/frechet.h"
#include "distance/moments.h"
#include "distance/sample_warning.h"

#include <tessera/base/error.h>
#include <tessera/base/value_checks.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace tessera::task {
namespace {

constexpr int64_t kBatch = 500;  // images whose features are computed at a time

using Clock = std::chrono::steady_clock;

// A file that others made may hold several sets: that of training is meant.
distance::Statistics stored(const std::filesystem::path& path) {
  try {
    return distance::load_statistics(path);
  } catch (const Error&) {
    return distance::load_statistics(path, "train");
  }
}

distance::Statistics statistics_of(const distance::Extractor& extractor,
                                   const std::filesystem::path& path,
                                   const image::ImageSource& images) {
  if (path.empty() || !std::filesystem::exists(path)) {
    distance::Statistics result =
        feature_statistics(extractor, images, images.size(), kBatch, "training images");
    if (!path.empty()) distance::save_statistics(path, result);
    return result;
  }
  distance::Statistics result = stored(path);
  distance::Statistics own;
  own.extractor = extractor.file_name();
  own.extractor_hash = extractor.hash();
  require_same_extractor(result, path.string(), own, extractor.file_name());
  return result;
}

}  // namespace

distance::Statistics feature_statistics(const distance::Extractor& extractor,
                                        const image::ImageSource& images, int64_t count,
                                        int64_t batch, const std::string& name,
                                        const std::function<void(const at::Tensor&)>& also) {
  distance::Moments moments;
  Progress bar("features", count);
  for (int64_t begin = 0; begin < count; begin += batch) {
    const int64_t end = std::min(begin + batch, count);
    const at::Tensor features = extractor.features(images.read(begin, end));
    moments.add(features);
    if (also) also(features);
    bar.advance(end - begin);
  }
  raise_deferred_errors();
  return {moments.gaussian(), moments.count(), extractor.file_name(), extractor.hash(),
          fmt::format("{} {}", moments.count(), name)};
}

ImageDistance::ImageDistance(const std::filesystem::path& features,
                             const std::filesystem::path& statistics,
                             const image::ImageSource& real, at::Device device)
    : extractor_(features, device),
      name_(distance::frechet_name(features)),
      real_(statistics_of(extractor_, statistics, real)) {}

ImageDistance::Result ImageDistance::measure(
    const imaging::ImageGenerator& generator, int64_t count, const imaging::ClassRule& classes,
    const std::function<void(const at::Tensor&, const at::Tensor&)>& also) const {
  distance::Moments moments;
  Result result;
  Clock::time_point begin = Clock::now();
  Progress bar("images", count);
  generator.stream(0, count, classes, [&](const at::Tensor& images) {
    result.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    for (const at::Tensor& some : images.split(kBatch)) {
      const at::Tensor features = extractor_.features(some);
      moments.add(features);
      if (also) also(some, features);
    }
    bar.advance(images.size(0));
    raise_deferred_errors();
    begin = Clock::now();
  });
  result.samples = count;
  result.distance = distance::frechet_distance(moments.gaussian(), real_.gaussian);
  result.warning = distance::sample_warning("the set of images made", count, moments.dim());
  return result;
}

}  // namespace tessera::task
