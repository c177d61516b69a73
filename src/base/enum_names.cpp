#include "tessera/base/enum_names.h"

#include <fmt/format.h>

#include "base/nearest_name.h"
#include "tessera/base/error.h"

namespace tessera::detail {

void throw_unknown_name(std::string_view what, std::string_view name,
                        const std::vector<std::string_view>& known) {
  throw UsageError(fmt::format("unknown {} '{}'{}", what, name, did_you_mean(name, known)),
                   fmt::format("known: {}", fmt::join(known, ", ")));
}

}  // namespace tessera::detail
