#include "task/autoencoder_task.h"

#include "base/log.h"
#include "base/numerals.h"
#include "base/require.h"
#include "evaluation/reconstruction.h"
#include "image/grid.h"
#include "image/png.h"
#include "image_model/autoencoder_folder.h"
#include "task/loss_meter.h"
#include "task/temporary_weights.h"
#include "tensor/machine_memory.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <fmt/format.h>

#include <algorithm>

namespace tessera::task {
namespace {

using Json = nlohmann::ordered_json;

constexpr int64_t kForVariance = 10000;  // images
constexpr double kLeastVariance = 1e-6;  // of images that are all alike
constexpr double kMiddle = 127.5;

// Of values on [-1, 1].
double variance_of(const at::Tensor& images) {
  const at::Tensor some = images.narrow(0, 0, std::min(kForVariance, images.size(0)));
  const at::Tensor values = some.to(at::kFloat);
  const double mean = values.mean(at::kDouble).item<double>();
  const double variance = (values - mean).square().mean(at::kDouble).item<double>();
  return std::max(variance / (kMiddle * kMiddle), kLeastVariance);
}

std::unique_ptr<image_model::Autoencoder> new_autoencoder(const ImageOptions& options,
                                                          const image::Dataset& dataset,
                                                          uint64_t seed, at::Device device) {
  dataset.require_pixels("an autoencoder");
  return std::make_unique<image_model::Autoencoder>(
      options.autoencoder,
      image_model::ImageShape{dataset.channels(), dataset.height(), dataset.width()},
      variance_of(dataset.split("train").images()), device, nn::usual_precision(device), seed);
}

// The least memory of an update, in bytes: the states of the blocks at the full size, in and out,
// which are kept for the gradient.
double least_memory(const ImageOptions& options, const image::Dataset& dataset) {
  const image_model::AutoencoderOptions& model = options.autoencoder;
  const auto pixels = static_cast<double>(options.data.batch * dataset.height() * dataset.width());
  return sizeof(float) * pixels * static_cast<double>(model.width) *
         static_cast<double>(4 * model.blocks);
}

}  // namespace

AutoencoderTask::AutoencoderTask(const ImageOptions& options, image::Dataset dataset, uint64_t seed,
                                 at::Device device)
    : options_(options),
      dataset_(std::move(dataset)),
      seed_(seed),
      model_(new_autoencoder(options, dataset_, seed, device)),
      batcher_(dataset_.split("train"), {options.data.batch, options.data.flip, /*classes=*/false},
               seed),
      held_out_(dataset_.held_out()) {
  if (device.is_cpu())  // a GPU says itself what it has no memory for
    require_memory(least_memory(options, dataset_),
                   fmt::format("batches of size {}", options.data.batch), memory_hint());
}

train::Validation AutoencoderTask::validate(const at::Tensor& weights, int64_t step,
                                            const std::function<void()>& pause) {
  const c10::NoGradGuard no_grad;
  const TemporaryWeights in_force(*model_, weights);
  const int64_t count = std::min(options_.validation.images, held_out_.size());
  LossMeter losses(*model_);
  evaluation::ReconstructionMeter meter(*model_);
  std::vector<at::Tensor> shown;
  for (int64_t first = 0; first < count; first += options_.data.batch) {
    pause();
    const int64_t rows = std::min(options_.data.batch, count - first);
    const at::Tensor images = held_out_.images().narrow(0, first, rows);
    const nn::Inputs inputs{channels_last(images).to(model_->device())};
    losses.add(model_->loss_of(inputs, /*draws=*/{}, /*variant=*/0, nn::Mode::inference));
    const at::Tensor made = meter.add(images);
    const int64_t more = std::clamp<int64_t>(options_.validation.shown - first, 0, rows);
    if (more > 0)
      shown.push_back(evaluation::side_by_side(images.narrow(0, 0, more), made.narrow(0, 0, more)));
  }
  const double loss = losses.means().loss;
  const Reconstruction found = meter.result();
  log::fields({fmt::format("step {}", step), fmt::format("validation loss {:.4f}", loss),
               fmt::format("PSNR {:.2f} dB", found.psnr),
               fmt::format("{:.1f} % of the codes in use", 100 * found.share_used()),
               fmt::format("perplexity {:.1f}", found.perplexity)});
  Json line{{"valid_loss", loss},
            {"valid_error", found.error},
            {"valid_psnr", found.psnr},
            {"valid_used", found.share_used()},
            {"valid_perplexity", found.perplexity}};
  if (!shown.empty()) {
    const at::Tensor pictures = at::cat(shown);
    const int64_t columns = 2 * image::square_columns(pictures.size(0) / 2);  // whole pairs
    line["valid_images"] = image::png_data_uri(image::grid(pictures, columns, /*padding=*/1));
  }
  const bool by_loss = options_.reconstruction == ReconstructionScore::loss;
  return {by_loss ? -loss : found.psnr, line};
}

std::string AutoencoderTask::score_text(double score) const {
  return options_.reconstruction == ReconstructionScore::loss
             ? fmt::format("validation loss {:.4f}", -score)
             : fmt::format("PSNR {:.2f} dB", score);
}

safetensors::File AutoencoderTask::weights_of(const std::filesystem::path& run_or_model) const {
  const std::filesystem::path folder = find_model_folder(run_or_model);
  const auto given = image_model::load_autoencoder_folder(folder, at::kCPU);
  require(given->shape() == model_->shape(),
          "the autoencoder in '{}' is for images of another size than those in '{}'",
          folder.string(), dataset_.folder().string());
  return safetensors::File(folder / kModelWeightsFile);
}

void AutoencoderTask::write_model(const std::filesystem::path& folder, const at::Tensor& weights,
                                  int64_t step) const {
  const ModelCard card{
      .title = "An autoencoder of images, of tessera",
      .description = "Codes that stand for squares of pixels.",
      .data = fmt::format("a prepared data set of fingerprint {}", dataset_.fingerprint()),
      .facts = {{"updates", fmt::format("{}", step)},
                {"images a batch", fmt::format("{}", options_.data.batch)},
                {"seed", fmt::format("{}", seed_)}}};
  image_model::write_autoencoder_folder(folder, *model_, weights, card);
}

std::string AutoencoderTask::memory_hint() const {
  return fmt::format("lower data.batch (now {}) and raise train.accumulate by the same factor",
                     options_.data.batch);
}

std::vector<train::Fact> AutoencoderTask::facts() const {
  const int64_t images = dataset_.split("train").size();
  const image_model::ImageShape grid = model_->grid();
  return {{"images", images, "images",
           fmt::format("{} of {} x {}, {}; {} x {} codes of {} each", images, dataset_.width(),
                       dataset_.height(), counted(dataset_.channels(), "colour"), grid.width,
                       grid.height, grid.symbols)},
          {"batches_per_epoch", batcher_.batches(), "epoch",
           fmt::format("{} of {}", counted(batcher_.batches(), "batch", "batches"),
                       options_.data.batch)}};
}

std::vector<std::string> AutoencoderTask::next_commands(const std::filesystem::path& run) const {
  return {fmt::format("tessera evaluate {} --reconstructions FILE.png", run.string()),
          fmt::format("tessera prepare --images codes --with {} --from {} --out CODES",
                      run.string(), dataset_.folder().string())};
}

}  // namespace tessera::task
