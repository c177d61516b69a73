#pragma once

#include "text_metric/bootstrap.h"

#include <span>
#include <string>

namespace tessera::text_metric {

// Lines that have the words of their reference and no others, in percent. Blanks at the ends and
// several in a row do not count: no model writes them.
AdditiveMetric exact_match_lines(std::span<const std::string> hypotheses,
                                 std::span<const std::string> references);
double exact_match(std::span<const std::string> hypotheses,
                   std::span<const std::string> references);

}  // namespace tessera::text_metric
