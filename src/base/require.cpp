#include "base/require.h"

namespace tessera {

void throw_error(fmt::string_view message, fmt::format_args arguments) {
  throw Error(fmt::vformat(message, arguments));
}

void throw_usage_error(fmt::string_view message, fmt::format_args arguments) {
  throw UsageError(fmt::vformat(message, arguments));
}

}  // namespace tessera
