#include "engine/step_rows.h"

#include <ATen/ATen.h>

namespace tessera::engine {

SampleStep rows_of(const SampleStep& step, int64_t first, int64_t count) {
  const auto own = [&](const at::Tensor& rows) {
    return rows.defined() ? rows.narrow(0, first, count) : rows;
  };
  return {step.index,        step.t,           own(step.x),      own(step.tau),
          own(step.eps_hat), own(step.x0_hat), own(step.labels), own(step.noisy)};
}

}  // namespace tessera::engine
