#pragma once

#include "text_metric/bootstrap.h"

#include <span>
#include <string>

namespace tessera::text_metric {

// The share of lines that have exactly the words of their reference, in percent. Blanks at the ends
// and runs of blanks make no difference, because no model writes them.
AdditiveMetric exact_match_lines(std::span<const std::string> hypotheses,
                                 std::span<const std::string> references);
double exact_match(std::span<const std::string> hypotheses,
                   std::span<const std::string> references);

}  // namespace tessera::text_metric
