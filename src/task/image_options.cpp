#include "task/image_options.h"

namespace tessera::task {

void declare_data(config::Schema& schema, ImageData& data) {
  schema.option("data.dir", data.dir, "folder that `tessera prepare --images` wrote").may_change();
  schema.option("data.batch", data.batch, "images of a batch").at_least(1);
  schema.option("data.flip", data.flip, "turn half of the images left to right");
}

namespace {

void declare_measured(config::Schema& schema, ImageValidation& options) {
  schema
      .option("train.validate_images", options.images,
              "held-out images whose loss is measured in a validation, at most")
      .at_least(1)
      .may_change();
}

}  // namespace

void declare_autoencoder_validation(config::Schema& schema, ImageOptions& options) {
  declare_measured(schema, options.validation);
  schema
      .option("train.show_images", options.validation.shown,
              "held-out images that a validation shows beside what came back of them (`tessera "
              "report`); 0: none")
      .range(0, 256)
      .may_change();
  schema.option("train.score", options.reconstruction,
                "measure that decides which checkpoint is the best");
}

void declare_validation(config::Schema& schema, ImageValidation& options) {
  declare_measured(schema, options);
  schema
      .option("train.show_images", options.shown,
              "images made in a validation to be looked at (`tessera report`), from the same noise "
              "every time; 0: none")
      .range(0, 256)
      .may_change();
  schema
      .option("train.validate_samples", options.samples,
              "images made in a validation for a Fréchet distance; 0: none")
      .at_least(0)
      // Distances of different numbers of images cannot be compared.
      .may_change([&options] { return options.score == ImageScore::loss; });
  schema
      .option("train.features", options.features,
              "TorchScript file of the feature extractor of that distance")
      .may_change();
  schema
      .option("train.statistics", options.statistics,
              "features' statistics of the training images; none: computed from them")
      .may_change();
  schema.option("train.score", options.score, "measure that decides which checkpoint is the best");
}

}  // namespace tessera::task
