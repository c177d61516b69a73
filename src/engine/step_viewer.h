#pragma once

#include "text/tokenizer.h"

#include <tessera/engine/text_request.h>
#include <tessera/engine/text_step_view.h>

#include <utility>

namespace tessera::engine {

// Steps of one request as text. Remembers the step before, to say what changed.
class StepViewer {
 public:
  explicit StepViewer(text::Tokenizer tokenizer) : tokenizer_(std::move(tokenizer)) {}

  TextStepView view(const TextStep& step);

 private:
  text::Tokenizer tokenizer_;
  at::Tensor before_;  // [K, L] int64 on the CPU: the estimates of the step before
};

}  // namespace tessera::engine
