#include <tessera/evaluation/image_evaluation.h>

#include "base/require.h"
#include "engine/image_engine.h"
#include "evaluation/image_codes.h"
#include "evaluation/image_distance.h"
#include "evaluation/recognition.h"
#include "evaluation/reconstruction.h"
#include "image/dataset.h"
#include "image_metric/distance_name.h"
#include "image_metric/kernel_distance.h"
#include "image_metric/nearest.h"
#include "image_metric/sample_warning.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <span>

namespace tessera {
namespace {

constexpr int64_t kNearestShown = 32;      // images whose neighbours are looked for
constexpr int64_t kMostForKernel = 10000;  // images of each set
constexpr int64_t kTrainingTile = 2000;    // training images that are compared at a time
constexpr int64_t kFeatureBatch = 500;     // images whose features are computed at a time

// For every image, the nearest training image and the distance to it: root mean square of the
// differences of sub-pixels.
struct Neighbours {
  at::Tensor index, distance;  // [n]
};

Neighbours neighbours(const at::Tensor& images, const at::Tensor& training) {
  image_metric::NearestSearch search(images);
  for (const at::Tensor& tile : training.split(kTrainingTile)) search.add(tile);
  const auto size = static_cast<double>(images[0].numel());
  return {search.index(), search.distance() / std::sqrt(size)};
}

double middle(const at::Tensor& values) {
  return values.median().item<double>();
}

ImageEvaluation::Nearest nearest_of(const at::Tensor& made, const at::Tensor& held_out,
                                    const at::Tensor& training) {
  const Neighbours near = neighbours(made, training);
  const at::Tensor pairs =
      at::stack({made, training.index_select(0, near.index)}, 1).flatten(0, 1).contiguous();
  const at::Tensor some = held_out.narrow(0, 0, std::min(kNearestShown, held_out.size(0)));
  return {middle(near.distance), middle(neighbours(some, training).distance),
          engine::to_images(pairs)};
}

// Two steps of one batch, so that libraries are loaded and kernels chosen before the clock runs.
void warm_up(const Engine& engine, ImageRequest request, int64_t images) {
  std::stop_source stop;
  request.count = images;
  request.stop = stop.get_token();
  request.on_step = [&](const ImageStep& step) {
    if (step.sample.index == 1) stop.request_stop();
  };
  const ImageResult result = engine.run(std::span(&request, 1)).front();
  if (result.outcome == Outcome::failed) result.require_done();
}

ImageEvaluation::Kernel kernel_of(const std::vector<at::Tensor>& made, const at::Tensor& training,
                                  const image_metric::Extractor& extractor,
                                  const ImageEvaluationOptions& options,
                                  std::vector<std::string>& warnings) {
  const at::Tensor features = at::cat(made);
  std::vector<at::Tensor> real;
  for (const at::Tensor& tile :
       training.narrow(0, 0, std::min(features.size(0), training.size(0))).split(kFeatureBatch))
    real.push_back(extractor.features(tile));
  const image_metric::KernelDistance found =
      image_metric::kernel_distance(features, at::cat(real), {.seed = options.seed});
  if (const auto warning = image_metric::subset_warning(found)) warnings.push_back(*warning);
  return {image_metric::kernel_name(options.features), found.mean, found.deviation, found.subsets,
          found.subset_size};
}

}  // namespace

ImageEvaluation evaluate_images(const Engine& engine, const std::filesystem::path& data,
                                const ImageEvaluationOptions& options) {
  require_option(!options.features.empty(),
                 "features is empty: name the network whose features are compared");
  require_option(options.count >= 2, "count must be at least 2, got {}", options.count);
  const auto pause = [&] { require(!options.stop.stop_requested(), "the evaluation was stopped"); };
  const image_model::ImageModel& model = engine.images().model();
  const image::Dataset dataset = evaluation::images_behind(data);
  const at::Tensor& training = dataset.split("train").images();
  at::Tensor held_out;  // opened now, so that a missing split is found before the work
  if (options.nearest) held_out = dataset.held_out().images();
  ImageEvaluation found;
  found.options = engine.in_effect(options.sampling);
  require(model.picture_shape() ==
              image_model::ImageShape({dataset.channels(), dataset.height(), dataset.width()}),
          "the images in '{}' are of another size than those the model makes",
          dataset.folder().string());
  const evaluation::ImageDistance distance(options.features, options.statistics, dataset,
                                           model.device(), pause);
  ImageRequest request{.count = options.count,
                       .label = options.label,
                       .seed = options.seed,
                       .options = options.sampling,
                       .stop = options.stop};
  if (options.warm_up) warm_up(engine, request, std::min(*found.options.batch, options.count));

  evaluation::RecognitionCounter recognition(distance.extractor());
  at::Tensor first;
  std::vector<at::Tensor> features;
  int64_t kept = 0;
  const auto stream = [&](const std::function<void(const at::Tensor&)>& take) {
    request.take = [&](const Images& some) { take(engine::to_pictures(some)); };
    const ImageResult result = engine.run(std::span(&request, 1)).front();
    result.require_done();
    found.nfe = result.nfe;
  };
  const auto measured = distance.measure(
      options.count, stream, [&](const at::Tensor& images, const at::Tensor& theirs) {
        if (!first.defined()) first = images.narrow(0, 0, std::min(kNearestShown, images.size(0)));
        recognition.add(images);
        if (options.take) options.take(engine::to_images(images));
        if (options.kernel && kept < kMostForKernel) {
          features.push_back(theirs);
          kept += theirs.size(0);
        }
      });
  found.images = measured.samples;
  found.distance = measured.distance;
  found.seconds = measured.seconds;
  found.distance_name = distance.name();
  found.extractor = distance.extractor().file_name();
  found.extractor_hash = distance.extractor().short_hash();
  found.recognition = recognition.result();
  if (measured.warning) found.warnings.push_back(*measured.warning);
  if (options.kernel)
    found.kernel = kernel_of(features, training, distance.extractor(), options, found.warnings);
  if (options.nearest) found.nearest = nearest_of(first, held_out, training);
  if (const image_model::Autoencoder* const decoder = model.decoder())
    found.floor =
        evaluation::measure_reconstruction(*decoder, training, options.count, &distance, pause);
  return found;
}

}  // namespace tessera
