#pragma once

#include "base/require.h"

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::text_metric {

// Calls work(hypothesis, references of the line) for every line. Throws Error if the documents
// differ in length.
template <class Work>
void for_each_line(std::span<const std::string> hypotheses,
                   std::span<const std::vector<std::string>> references, Work work) {
  for (const auto& reference : references)
    require(reference.size() == hypotheses.size(),
            "the reference has {} lines and the hypothesis {}: they must correspond",
            reference.size(), hypotheses.size());
  std::vector<std::string_view> line(references.size());
  for (size_t i = 0; i < hypotheses.size(); ++i) {
    for (size_t k = 0; k < references.size(); ++k) line[k] = references[k][i];
    work(std::string_view(hypotheses[i]), line);
  }
}

}  // namespace tessera::text_metric
