#include "image_settings.h"

#include "base/device.h"
#include "option_checks.h"

#include <ATen/Context.h>

namespace tessera::app {
namespace {

imaging::SamplingOptions changed(imaging::SamplingOptions options, const SamplerSettings& sampler,
                                 const ImageSettings& settings, uint64_t seed) {
  change_sampler(options.sampler, sampler, seed);
  options.batch = settings.batch.value_or(options.batch);
  options.guidance = settings.guidance.value_or(options.guidance);
  options.sampler.time_difference =
      settings.time_difference.value_or(options.sampler.time_difference);
  return options;
}

}  // namespace

void add_image_options(CLI::App& command, ImageSettings& settings) {
  command.add_option("--class", settings.label, "make images of one class only, by name or number")
      ->option_text("NAME");
  command
      .add_option("--guidance", settings.guidance,
                  "strength of the class: 1 as trained, larger values make images more typical of "
                  "the class")
      ->check(number_in(0, 1000))
      ->option_text("X");
  command
      .add_option("--time-difference", settings.time_difference,
                  "steps by which the state is ahead of the time that the network is told "
                  "(asymmetric steps)")
      ->check(number_in(0, 1000))
      ->option_text("X");
  command
      .add_option("--batch", settings.batch, "images made at a time; lower it if memory runs out")
      ->check(whole_number(1, 1000000))
      ->option_text("N");
}

double LoadedImages::r() const {
  const double trained = model().options().process.r;
  return options_.sampler.rescale_reverse ? options_.sampler.r.value_or(trained) : 0;
}

LoadedImages::LoadedImages(const SamplerSettings& sampler, const ImageSettings& settings,
                           const GlobalOptions& globals) {
  at::globalContext().setBenchmarkCuDNN(true);  // all batches but the last have one shape
  const at::Device device = parse_device(globals.device);
  folder_ = find_model_folder(sampler.folder, sampler.checkpoint);
  loaded_ =
      imaging::load_image_folder(folder_, device, nn::parse_precision(sampler.precision, device));
  options_ = changed(loaded_.sampling, sampler, settings, globals.seed);
  generator_.emplace(*loaded_.model, options_);
  classes_ = imaging::class_rule(settings.label, loaded_.classes, model());
  if (settings.guidance) imaging::require_told_classes(model(), "--guidance");
}

}  // namespace tessera::app
