#include "text_metric/exact_match.h"

#include "base/require.h"
#include "text_metric/tokenization.h"

namespace tessera::text_metric {

AdditiveMetric exact_match_lines(std::span<const std::string> hypotheses,
                                 std::span<const std::string> references) {
  require(hypotheses.size() == references.size(), "there are {} references for {} lines",
          references.size(), hypotheses.size());
  AdditiveMetric metric;
  metric.width = 2;
  for (size_t k = 0; k < hypotheses.size(); ++k) {
    metric.rows.push_back(split_words(hypotheses[k]) == split_words(references[k]) ? 100 : 0);
    metric.rows.push_back(1);
  }
  metric.score = [](std::span<const double> sum) { return sum[1] > 0 ? sum[0] / sum[1] : 0; };
  return metric;
}

double exact_match(std::span<const std::string> hypotheses,
                   std::span<const std::string> references) {
  return exact_match_lines(hypotheses, references).whole();
}

}  // namespace tessera::text_metric
