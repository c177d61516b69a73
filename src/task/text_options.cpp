#include "task/text_options.h"

namespace tessera::task {

void declare_data(config::Schema& schema, TextData& data) {
  schema.option("data.dir", data.dir, "folder that `tessera prepare` wrote").may_change();
  schema.option("data.task", data.source, "made-up corpus to use instead of data.dir");
  schema.option("data.pairs", data.pairs, "pairs of sentences in a made-up corpus")
      .range(100, 10000000);
  corpus::BatcherOptions& batches = data.batches;
  schema
      .option("data.tokens", batches.tokens,
              "size of a batch: sentences x the longer of padded source and target")
      .range(1, 100000000);
  schema
      .option("data.max_length", batches.max_length,
              "sentences of more symbols are left out of training, end symbol counted")
      .range(2, 100000000);
  schema.option("data.round_to", batches.round_to, "padded lengths are multiples of it")
      .range(1, 1000000);
  schema.option("data.square", batches.square,
                "pad source and target to one length, so that a batch has sentences of every "
                "length ratio");
  schema.option("data.max_buckets", batches.max_buckets, "largest number of batch shapes")
      .range(1, 1000);
}

void declare_validation(config::Schema& schema, TextOptions& options) {
  schema
      .option("train.validate_sentences", options.validate_sentences,
              "sentences generated in a validation; 0: only the loss is measured")
      .at_least(0)
      // Scores can only be compared with earlier ones of the same kind.
      .may_change([&options] {
        return options.validate_sentences > 0 || options.score == TextScore::loss;
      });
  schema.option("train.score", options.score, "measure that decides which checkpoint is the best");
}

std::filesystem::path TextData::folder(const std::filesystem::path& run) const {
  return source == TextSource::none ? dir : run / "data";
}

}  // namespace tessera::task
