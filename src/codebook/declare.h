#pragma once

#include "config/config.h"

#include <tessera/codebook/bits.h>
#include <tessera/codebook/embedding_table.h>

// The options of the codebooks as configuration keys, each `prefix` + name.
namespace tessera {

void declare(config::Schema& schema, const std::string& prefix, EmbeddingTableOptions& options);
void declare(config::Schema& schema, const std::string& prefix, BitsOptions& options);

}  // namespace tessera
