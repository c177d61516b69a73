#include "image_model/image_options.h"

#include "nn/sizes.h"
#include "process/declare.h"
#include "symbols/declare.h"

namespace tessera::image_model {

void declare(config::Schema& schema, ImageModelOptions& options) {
  CodingOptions& coding = options.coding;
  schema.option("model.coding", coding.kind,
                "code of a sub-pixel's value, or of a code of an autoencoder: its bits (squared "
                "error alone), the same as fixed codes (with cross-entropy of rounding), trainable "
                "codes, the value itself (pixels: continuous diffusion, r = 0), the value as a "
                "symbol (values: the keys symbols.*), or a symbol without an order (symbols: the "
                "same keys)");
  schema.option("model.size", coding.size, "size of a bit, and the largest value of pixels")
      .above(0);
  schema.option("model.order", coding.order, "of the bits");
  schema.option("model.gray", coding.gray, "bits in Gray code: neighbours differ in one");
  schema
      .option("model.shuffle", coding.shuffle,
              "above 0: values are permuted before they become bits, by this seed, so that their "
              "order means nothing")
      .at_least(0);
  schema
      .option("model.latent", coding.latent,
              "width of a trainable code, and of the vector that stands for one of symbols")
      .range(2, 1024);
  schema.option("model.codes_start", coding.start,
                "start of trainable codes: random directions, or bits (model.latent = 8)");
  schema.option("model.head", coding.head,
                "of values: what the network says of each, a number for every value, or a logistic "
                "distribution");

  nn::UNetOptions& network = options.network;
  schema.option("model.network", options.network_kind,
                "what estimates symbols: a U-Net, or a Transformer that does not see the symbol it "
                "estimates (hollow: SDDM), for grids of some hundred symbols");
  schema
      .option("model.layers", options.layers,
              "of a hollow network: layers of each of its two stacks, one for every direction of "
              "reading")
      .range(1, nn::kMostLayers);
  schema.option("model.width", network.width, "channels of the network, in all stages")
      .range(2, nn::kWidest);
  schema
      .option("model.stages", network.stages,
              "stages of the network, each but the first at half the side")
      .range(1, 8);
  schema
      .option("model.blocks", network.blocks,
              "residual blocks of a stage on the way down; one more on the way up")
      .range(1, nn::kMostLayers);
  schema
      .option("model.attention_side", network.attention_side,
              "stages whose pictures are at most so high have attention; 0: none")
      .at_least(0);
  schema.option("model.head_width", network.head_width, "width of an attention head").at_least(1);
  schema.option("model.dropout", network.dropout, "share of the activations dropped in training")
      .range(0, 1)
      .check([](double value) { return value < 1; }, "below 1");
  schema
      .option("model.self_conditioning", options.self_conditioning,
              "share of every batch that sees the network's own previous estimate")
      .range(0, 1);
  schema.option("model.conditional", options.conditional, "whether the network is told the class");
  schema
      .option("model.class_dropout", options.class_dropout,
              "share of the samples that are not told their class, for guidance")
      .range(0, 1);
  tessera::declare(schema, "process.", options.process);
  tessera::declare(schema, "objective.", options.objective);
  tessera::declare(schema, "symbols.", options.symbols);
}

void declare(config::Schema& schema, SamplingOptions& options) {
  schema
      .option("sample.guidance", options.guidance,
              "strength of the class: 1 as trained, larger values make images more typical of the "
              "class")
      .range(0, 1000);
  schema.option("sample.batch", options.batch, "images made at a time; lower it if memory runs out")
      .range(1, 1000000);
  tessera::declare(schema, "sampler.", options.sampler);
}

}  // namespace tessera::image_model
