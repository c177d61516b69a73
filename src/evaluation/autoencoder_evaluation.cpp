#include <tessera/evaluation/autoencoder_evaluation.h>

#include "base/require.h"
#include "engine/image_engine.h"
#include "evaluation/image_codes.h"
#include "evaluation/reconstruction.h"
#include "files/model_files.h"
#include "image_model/autoencoder_folder.h"
#include "tensor/device.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <limits>
#include <optional>

namespace tessera {

AutoencoderEvaluation evaluate_autoencoder(const std::filesystem::path& autoencoder,
                                           const std::filesystem::path& data,
                                           const AutoencoderEvaluationOptions& options) {
  require_option(options.count >= 2, "count must be at least 2, got {}", options.count);
  const at::Device device = parse_device(options.load.device);
  const auto model = image_model::load_autoencoder_folder(
      find_model_folder(autoencoder, options.load.checkpoint), device);
  const image::Dataset dataset = evaluation::images_behind(data);
  require(model->shape() ==
              image_model::ImageShape({dataset.channels(), dataset.height(), dataset.width()}),
          "the images in '{}' are of another size than those of the autoencoder",
          dataset.folder().string());
  std::optional<evaluation::ImageDistance> distance;
  if (!options.features.empty())
    distance.emplace(options.features, options.statistics, dataset, device);

  AutoencoderEvaluation found;
  found.training = evaluation::measure_reconstruction(
      *model, dataset.split("train").images(), options.count, distance ? &*distance : nullptr);
  if (distance) {
    found.distance_name = distance->name();
    found.extractor = distance->extractor().file_name();
    found.extractor_hash = distance->extractor().short_hash();
  }
  const at::Tensor& held_out = dataset.held_out().images();
  found.held_out = evaluation::measure_reconstruction(
      *model, held_out, std::numeric_limits<int64_t>::max(), /*distance=*/nullptr);
  if (options.shown > 0) {
    const at::Tensor first = held_out.narrow(0, 0, std::min(options.shown, held_out.size(0)));
    found.pairs = engine::to_images(
        evaluation::side_by_side(first, evaluation::ReconstructionMeter(*model).add(first)));
  }
  return found;
}

}  // namespace tessera
