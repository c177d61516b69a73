#include "codebook/declare.h"

namespace tessera {

void declare(config::Schema& schema, const std::string& prefix, EmbeddingTableOptions& options) {
  schema.option(prefix + "normalise", options.normalise,
                "what is done to the rows of the table before they are used as codes");
  schema.option(prefix + "undecodable", options.undecodable, "symbols that no point decodes to")
      .at_least(0);
}

void declare(config::Schema& schema, const std::string& prefix, BitsOptions& options) {
  schema.option(prefix + "width", options.width, "bits per symbol").range(1, 16);
  schema.option(prefix + "size", options.size, "s: a code is a vector of +s and -s").above(0);
  schema.option(prefix + "order", options.order, "which bit comes first");
  schema.option(prefix + "gray", options.gray, "Gray code: neighbouring values differ in one bit");
  schema
      .option(prefix + "permutation", options.permutation,
              "values in another order before their bits are taken; empty: as they are")
      .at_least(0);
}

}  // namespace tessera
