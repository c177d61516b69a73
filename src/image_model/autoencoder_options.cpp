#include "image_model/autoencoder_options.h"

#include "nn/sizes.h"

namespace tessera::image_model {

void declare(config::Schema& schema, AutoencoderOptions& options) {
  schema.option("model.width", options.width, "channels of the network, at all sizes")
      .range(1, nn::kWidest);
  schema
      .option("model.halvings", options.halvings,
              "how often the side of a picture is halved: 2 makes 8 x 8 codes of 32 x 32 pixels")
      .range(0, 8);
  schema
      .option("model.blocks", options.blocks,
              "residual blocks at every size, on the way in and on the way out")
      .range(1, nn::kMostLayers);
  schema
      .option(
          "model.commitment", options.commitment,
          "weight of the squared distance of a point from its code, which draws points to codes")
      .at_least(0);
  QuantiserOptions& quantiser = options.quantiser;
  schema.option("model.codes", quantiser.codes, "number of codes").range(2, 32768);
  schema.option("model.code_width", quantiser.width, "numbers of a code").range(1, 1024);
  schema
      .option(
          "model.code_decay", quantiser.decay,
          "codes are moving averages of their points; share of an average that is kept at a batch")
      .range(0, 1)
      .check([](double value) { return value < 1; }, "below 1");
  schema
      .option("model.code_smoothing", quantiser.smoothing,
              "added to how often a code is used, so that no average is divided by zero")
      .above(0);
  schema
      .option("model.restart_every", quantiser.restart_every,
              "batches after which codes that are hardly used begin anew at random points")
      .range(1, 1e9);
  schema
      .option("model.restart_share", quantiser.restart_share,
              "codes begin anew if they were used for at most this part of an equal share of the "
              "points")
      .range(0, 1);
}

}  // namespace tessera::image_model
