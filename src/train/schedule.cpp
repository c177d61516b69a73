#include "train/schedule.h"

#include "base/require.h"

#include <algorithm>
#include <cmath>
#include <numbers>

namespace tessera::train {
namespace {

void check(const ScheduleOptions& options) {
  require_option(std::isfinite(options.learning_rate) && options.learning_rate >= 0,
                 "learning_rate must be at least 0, got {}", options.learning_rate);
  require_option(options.warmup >= 0, "warmup must be at least 0, got {}", options.warmup);
  require_option(options.min_ratio >= 0 && options.min_ratio <= 1,
                 "min_ratio must be in [0, 1], got {}", options.min_ratio);
  require_option(options.decay_steps >= 0, "decay_steps must be at least 0, got {}",
                 options.decay_steps);
}

// From 0 at the end of the warm-up to 1 at the last update of the decay.
double progress(int64_t done, int64_t warmup, int64_t decay_steps) {
  const auto length = static_cast<double>(std::max<int64_t>(1, decay_steps - warmup));
  return std::min(1.0, static_cast<double>(done - warmup) / length);
}

}  // namespace

double learning_rate(const ScheduleOptions& options, int64_t step, int64_t total_steps) {
  check(options);
  require(step >= 0, "there is no learning rate for step {}", step);
  const int64_t done = step + 1;
  const int64_t warmup = std::max<int64_t>(1, options.warmup);
  if (done < warmup)
    return options.learning_rate * static_cast<double>(done) / static_cast<double>(warmup);

  const double m = options.min_ratio;
  const double p =
      progress(done, warmup, options.decay_steps > 0 ? options.decay_steps : total_steps);
  switch (options.kind) {
    case ScheduleKind::inverse_sqrt:
      return options.learning_rate *
             std::sqrt(static_cast<double>(warmup) / static_cast<double>(done));
    case ScheduleKind::cosine:
      return options.learning_rate * (m + (1 - m) * (1 + std::cos(std::numbers::pi * p)) / 2);
    case ScheduleKind::linear:
      return options.learning_rate * (m + (1 - m) * (1 - p));
    case ScheduleKind::constant:
      break;
  }
  return options.learning_rate;
}

bool depends_on_total_steps(const ScheduleOptions& options) {
  const bool decays = options.kind == ScheduleKind::cosine || options.kind == ScheduleKind::linear;
  return decays && options.decay_steps == 0;
}

double ema_decay(double target, int64_t step) {
  return std::min(target, static_cast<double>(step + 1) / static_cast<double>(step + 10));
}

}  // namespace tessera::train
