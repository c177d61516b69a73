#include "evaluation/image_distance.h"

#include "base/log.h"
#include "base/progress.h"
#include "base/require.h"
#include "files/files.h"
#include "image_metric/distance_name.h"
#include "image_metric/frechet.h"
#include "image_metric/moments.h"
#include "image_metric/sample_warning.h"

#include <tessera/base/error.h>
#include <tessera/tensor/value_checks.h>

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

namespace tessera::evaluation {
namespace {

constexpr int64_t kBatch = 500;  // images whose features are computed at a time

using Clock = std::chrono::steady_clock;

// A file made elsewhere may hold several sets: the one of training is taken.
image_metric::Statistics stored(const std::filesystem::path& path) {
  return image_metric::load_statistics(path,
                                       image_metric::has_statistics(path, "train") ? "train" : "");
}

// The statistics in the file, which must be of this extractor and these images.
image_metric::Statistics fitting(const std::filesystem::path& path,
                                 const image_metric::Extractor& extractor,
                                 const image::Dataset& dataset) {
  image_metric::Statistics result = stored(path);
  image_metric::Statistics own;
  own.extractor = extractor.file_name();
  own.extractor_hash = extractor.hash();
  require_same_extractor(result, path.string(), own, extractor.file_name());
  if (!result.data.empty() && result.data != dataset.fingerprint())
    throw Error(fmt::format("the statistics in '{}' are of other images than those in '{}'",
                            path.string(), dataset.folder().string()),
                "name a file that is not there: it is made");
  return result;
}

image_metric::Statistics statistics_of(const image_metric::Extractor& extractor,
                                       const std::filesystem::path& path,
                                       const image::Dataset& dataset,
                                       const std::function<void()>& pause) {
  if (is_there(path)) return fitting(path, extractor, dataset);
  const image::TensorImages images(dataset.split("train").images());
  image_metric::Statistics result = feature_statistics(extractor, images, images.size(), kBatch,
                                                       "training images", [&](const at::Tensor&) {
                                                         if (pause) pause();
                                                       });
  result.data = dataset.fingerprint();
  if (!path.empty()) image_metric::save_statistics(path, result);
  return result;
}

}  // namespace

image_metric::Statistics feature_statistics(const image_metric::Extractor& extractor,
                                            const image::ImageSource& images, int64_t count,
                                            int64_t batch, const std::string& name,
                                            const std::function<void(const at::Tensor&)>& also) {
  const ValueCheckScope checks;
  image_metric::Moments moments;
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
                             const std::filesystem::path& statistics, const image::Dataset& dataset,
                             at::Device device, const std::function<void()>& pause)
    : extractor_(features, device),
      name_(image_metric::frechet_name(features)),
      real_(statistics_of(extractor_, statistics, dataset, pause)) {}

void ImageDistance::check(const std::filesystem::path& features,
                          const std::filesystem::path& statistics, const image::Dataset& dataset) {
  require(is_there(features), "there is no extractor '{}'", features.string());
  const image_metric::Extractor extractor(features, at::kCPU);
  if (is_there(statistics)) {
    fitting(statistics, extractor, dataset);
  } else if (const auto folder = statistics.parent_path(); !folder.empty()) {
    require(is_there(folder), "there is no folder '{}' to write the statistics to",
            folder.string());
  }
}

ImageDistance::Result ImageDistance::measure(
    int64_t count, const ImageStream& stream,
    const std::function<void(const at::Tensor&, const at::Tensor&)>& also,
    const std::function<void(const at::Tensor&)>& sum) const {
  const ValueCheckScope checks;
  image_metric::Moments moments;
  Result result;
  Clock::time_point begin = Clock::now();
  Progress bar("images", count);
  const auto take = [&](const at::Tensor& images) {
    result.seconds += std::chrono::duration<double>(Clock::now() - begin).count();
    for (const at::Tensor& some : images.split(kBatch)) {
      const at::Tensor features = extractor_.features(some);
      moments.add(features);
      if (also) also(some, features);
    }
    bar.advance(images.size(0));
    raise_deferred_errors();
    begin = Clock::now();
  };
  stream(take);
  if (sum) moments.share(sum);
  result.samples = count;
  result.distance = image_metric::frechet_distance(moments.gaussian(), real_.gaussian);
  result.warning = image_metric::sample_warning("the set of images made", count, moments.dim());
  return result;
}

}  // namespace tessera::evaluation
