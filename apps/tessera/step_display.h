#pragma once

#include "text/tokenizer.h"

#include <tessera/engine/text_request.h>

#include <nlohmann/json.hpp>

#include <span>
#include <string>
#include <vector>

namespace tessera::app {

// Records how one sentence condenses out of noise, to show it afterwards: the chosen candidate is
// known only at the end.
class StepDisplay {
 public:
  // What the columns mean, to be said once.
  static std::string legend();

  // For TextRequest::on_step.
  void record(const TextStep& step);

  // One line a step:
  //   t            the time told to the network, from T (noise) down to 0
  //   changed      share of the symbols of the estimate that changed since the step before
  //   outside      share of the noisy points that lie outside the cell of the estimate's symbol
  //   noisy point  what the network is given, decoded as it is; a dot is a symbol without text
  //   estimate     what the network sees in it, decoded: in the last step, the result
  // Symbols that changed are bold if colours are on.
  std::string text(const TextResult& result, const text::Tokenizer& tokenizer, bool colours) const;

  // The same for programs: an array of {t, changed, outside, point, estimate}, both texts with a
  // dot for every symbol that is not text.
  nlohmann::ordered_json json(const TextResult& result, const text::Tokenizer& tokenizer) const;

 private:
  // One step of the candidate that was chosen.
  struct View {
    double t, changed, outside;  // shares from 0 to 1
    std::span<const int64_t> point, labels;
    std::span<const int64_t> point_before, labels_before;  // empty: it is the first step
  };
  std::vector<View> views(const TextResult& result) const;

  struct Step {
    double t;
    at::Tensor labels;   // [candidates, L] on the CPU: what the estimates decode to
    at::Tensor present;  // [candidates, L]: what the noisy points themselves decode to
  };

  std::vector<Step> steps_;
};

}  // namespace tessera::app
