#include "engine/step_viewer.h"

#include "engine/symbol_text.h"

#include <ATen/ATen.h>

#include <string>

namespace tessera::engine {

TextStepView StepViewer::view(const TextStep& step) {
  const auto on_cpu = [](const at::Tensor& rows) { return rows.to(at::kCPU).contiguous(); };
  const at::Tensor labels = on_cpu(step.sample.labels), noisy = on_cpu(step.noisy),
                   visible = on_cpu(step.visible);
  const bool first = !before_.defined();
  const int64_t candidates = labels.size(0), length = labels.size(1);
  TextStepView view{step.sample.index + 1, step.calls, step.sample.t, {}};
  for (int64_t row = 0; row < candidates; ++row) {
    auto& pieces = view.candidates.emplace_back();
    bool open = false;  // a blank may stand before the next piece
    for (int64_t k = row * length; k < (row + 1) * length; ++k) {
      if (!visible.const_data_ptr<bool>()[k]) continue;
      const int64_t symbol = labels.const_data_ptr<int64_t>()[k],
                    present = noisy.const_data_ptr<int64_t>()[k];
      const SymbolText written = symbol_text(tokenizer_, static_cast<text::Id>(symbol));
      pieces.push_back(
          {.text = std::string(written.text),
           .noisy = std::string(symbol_text(tokenizer_, static_cast<text::Id>(present)).text),
           .changed = first || before_.const_data_ptr<int64_t>()[k] != symbol,
           .outside = present != symbol,
           .glued = !open || !written.blank_before});
      open = written.blank_after;
    }
  }
  before_ = labels;
  return view;
}

}  // namespace tessera::engine
