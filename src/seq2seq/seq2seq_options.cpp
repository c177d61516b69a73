#include "seq2seq/seq2seq_options.h"

#include "config/only_for.h"
#include "nn/sizes.h"
#include "process/declare.h"
#include "symbols/declare.h"

namespace tessera::seq2seq {

void only_for(config::Schema& schema, const ModelKind& kind, const std::vector<ModelKind>& users,
              const std::function<void()>& declare) {
  config::only_for(schema, "models of kind", kind, users, declare);
}

void declare(config::Schema& schema, Seq2SeqOptions& options) {
  NetworkOptions& network = options.network;
  nn::TransformerOptions& transformer = network.transformer;
  schema.option("model.kind", options.kind,
                "diffusion: all symbols at once, points out of noise; symbols: all at once, out of "
                "masks or of other symbols; ar: one after the other, from left to right");
  schema.option("model.latent", network.latent, "width of the codes, in which diffusion happens")
      .range(2, nn::kWidest);
  schema.option("model.width", transformer.width, "width of the network").range(2, nn::kWidest);
  schema.option("model.feedforward", transformer.feedforward, "width of its hidden layers")
      .range(1, 4 * nn::kWidest);
  schema.option("model.heads", transformer.heads, "attention heads; they divide the width")
      .range(1, nn::kWidest);
  schema.option("model.layers", transformer.layers, "layers of the encoder, and of the decoder")
      .range(1, nn::kMostLayers);
  schema
      .option("model.dropout", transformer.dropout, "share of the activations dropped in training")
      .range(0, 1)
      .check([](double value) { return value < 1; }, "below 1");
  schema.option("model.norm", transformer.norm, "normalise after every part of a layer, or before");
  schema.option("model.activation", transformer.activation, "between the two linear layers");
  schema.option("model.positions", network.positions, "longest sentence, end symbol included")
      .range(2, nn::kMostPositions);
  schema.option("model.reading", network.reading,
                "an encoder reads the source and a decoder looks at that (cross), or one stack of "
                "as many layers as both reads source and target as one sequence (joined; diffusion "
                "only)");
  schema.option("model.normalise", options.normalise, "how codes are brought to one length");
  schema.option("model.output_bias", options.output_bias,
                "add a trained bias to the scores of symbols");
  using enum ModelKind;
  only_for(schema, options.kind, {diffusion, symbols}, [&] {
    schema
        .option("model.length_weight", options.length_weight,
                "weight of the cross-entropy of the predicted length")
        .at_least(0);
    schema.option("model.length_gradient", options.length_gradient,
                  "whether the encoder learns to predict lengths, too, or only the head that does");
    schema
        .option("model.self_conditioning", options.self_conditioning,
                "share of the updates in which the network sees its own previous estimate")
        .range(0, 1);
    schema.option("model.condition_loss", options.condition_loss,
                  "the loss of such an update is that of the second pass alone, or the sum of both "
                  "(both; with model.self_conditioning = 1, every update is of both)");
  });
  only_for(schema, options.kind, {diffusion}, [&] {
    schema.option(
        "model.condition_on", options.condition_on,
        "form in which it sees that estimate, in training and in sampling: as it is (raw), the "
        "mean of the codes (mean), the nearest code (nearest), or scaled to a code's length "
        "(rescaled)");
    tessera::declare(schema, "process.", options.process);
    tessera::declare(schema, "process.adaptive_", options.adaptive);
    declare_error(schema, "objective.", options.objective);
    declare_rounding(schema, "objective.", options.objective);
  });
  declare_smoothing(schema, "objective.", options.objective);
  only_for(schema, options.kind, {symbols},
           [&] { tessera::declare(schema, "symbols.", options.symbols); });
}

}  // namespace tessera::seq2seq
