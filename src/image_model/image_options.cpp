#include "image_model/image_options.h"

#include "config/only_for.h"
#include "nn/sizes.h"
#include "process/declare.h"
#include "symbols/declare.h"

namespace tessera::image_model {
namespace {

// Options that `declare` adds are of use to some codings alone.
void only_for(config::Schema& schema, const Coding& coding, const std::vector<Coding>& users,
              const std::function<void()>& declare) {
  config::only_for(schema, "images coded as", coding, users, declare);
}

void declare_coding(config::Schema& schema, CodingOptions& coding) {
  schema.option("model.coding", coding.kind,
                "code of a sub-pixel's value, or of a code of an autoencoder: its bits (squared "
                "error alone), the same as fixed codes (with cross-entropy of rounding), trainable "
                "codes, the value itself (pixels: continuous diffusion, r = 0), the value as a "
                "symbol (values: the keys symbols.*), or a symbol without an order (symbols: the "
                "same keys)");
  using enum Coding;
  only_for(schema, coding.kind, {bits, fixed, trainable, pixels}, [&] {
    schema.option("model.size", coding.size, "size of a bit, and the largest value of pixels")
        .above(0);
  });
  // Trainable codes may begin as bits.
  only_for(schema, coding.kind, {bits, fixed, trainable}, [&] {
    schema.option("model.order", coding.order, "of the bits");
    schema.option("model.gray", coding.gray, "bits in Gray code: neighbours differ in one");
    schema
        .option("model.shuffle", coding.shuffle,
                "above 0: values are permuted before they become bits, by this seed, so that their "
                "order means nothing")
        .at_least(0);
  });
  only_for(schema, coding.kind, {trainable, symbols}, [&] {
    schema
        .option("model.latent", coding.latent,
                "width of a trainable code, and of the vector that stands for one of symbols")
        .range(2, 1024);
  });
  only_for(schema, coding.kind, {trainable}, [&] {
    schema.option("model.codes_start", coding.start,
                  "start of trainable codes: random directions, or bits (model.latent = 8)");
  });
  only_for(schema, coding.kind, {values}, [&] {
    schema.option("model.head", coding.head,
                  "for values: what the network says of each: a number for every value (logits), "
                  "or a logistic distribution, whose values are points from -1 to 1 (logistic) or "
                  "equal parts of [-1, 1] (logistic-parts: tauLDR)");
  });
}

void declare_network(config::Schema& schema, nn::UNetOptions& network) {
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
              "stages whose pictures are at most this high have attention; 0: none")
      .at_least(0);
  schema.option("model.head_width", network.head_width, "width of an attention head").at_least(1);
  schema.option("model.dropout", network.dropout, "share of the activations dropped in training")
      .range(0, 1)
      .check([](double value) { return value < 1; }, "below 1");
}

}  // namespace

void declare(config::Schema& schema, ImageModelOptions& options) {
  const Coding& coding = options.coding.kind;
  declare_coding(schema, options.coding);
  using enum Coding;
  only_for(schema, coding, {values, symbols}, [&] {
    schema.option("model.network", options.network_kind,
                  "what estimates symbols: a U-Net, or a Transformer that does not see the symbol "
                  "it estimates (hollow: SDDM), for grids of some hundred symbols");
    schema
        .option("model.layers", options.layers,
                "for a hollow network: layers of each of its two stacks, one for each direction of "
                "reading")
        .range(1, nn::kMostLayers);
  });
  declare_network(schema, options.network);
  schema
      .option("model.self_conditioning", options.self_conditioning,
              "share of every batch that sees the network's own previous estimate")
      .range(0, 1);
  schema.option("model.conditional", options.conditional, "whether the network is told the class");
  schema
      .option("model.class_dropout", options.class_dropout,
              "share of the samples that are not told their class, for guidance")
      .range(0, 1);
  only_for(schema, coding, {bits, fixed, trainable, pixels}, [&] {
    tessera::declare(schema, "process.", options.process);
    declare_error(schema, "objective.", options.objective);
  });
  // Of bits and pixels only the squared error is taken.
  only_for(schema, coding, {fixed, trainable}, [&] {
    declare_rounding(schema, "objective.", options.objective);
    declare_smoothing(schema, "objective.", options.objective);
  });
  only_for(schema, coding, {values, symbols},
           [&] { tessera::declare(schema, "symbols.", options.symbols); });
}

void declare(config::Schema& schema, SamplingOptions& options, const Coding* coding) {
  using enum Coding;
  const auto part_for = [&](const std::vector<Coding>& users, const std::function<void()>& part) {
    coding != nullptr ? only_for(schema, *coding, users, part) : part();
  };
  schema
      .option("sample.guidance", options.guidance,
              "strength of the class: 1 as trained, larger values make images more typical of the "
              "class")
      .range(0, 1000);
  schema.option("sample.batch", options.batch, "images made at a time; lower it if memory runs out")
      .range(1, 1000000);
  declare_steps(schema, "sampler.", options.sampler);
  part_for({bits, fixed, trainable, pixels},
           [&] { declare_paths(schema, "sampler.", options.sampler); });
  part_for({values}, [&] { tessera::declare(schema, "sampler.", options.sampler.symbols); });
}

}  // namespace tessera::image_model
