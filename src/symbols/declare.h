#pragma once

#include "config/config.h"

#include <tessera/symbols/symbol_family.h>

namespace tessera {

// The options of a family of symbols as configuration keys, each `prefix` + name.
void declare(config::Schema& schema, const std::string& prefix, SymbolFamilyOptions& options);

}  // namespace tessera
