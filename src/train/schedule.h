#pragma once

#include <tessera/base/enum_names.h>

#include <cstdint>

namespace tessera::train {

// What the learning rate does after it has risen linearly over the first updates.
enum class ScheduleKind {
  inverse_sqrt,  // falls with the square root of the number of updates
  cosine,        // falls to its final value along half a cosine
  linear,        // falls to its final value in a straight line
  constant,      // stays
};

}  // namespace tessera::train

namespace tessera {

template <>
struct EnumNames<train::ScheduleKind> {
  static constexpr std::string_view what = "schedule";
  static constexpr std::array<std::pair<train::ScheduleKind, std::string_view>, 4> values{
      {{train::ScheduleKind::inverse_sqrt, "inverse-sqrt"},
       {train::ScheduleKind::cosine, "cosine"},
       {train::ScheduleKind::linear, "linear"},
       {train::ScheduleKind::constant, "constant"}}};
};

}  // namespace tessera

namespace tessera::train {

struct ScheduleOptions {
  ScheduleKind kind = ScheduleKind::inverse_sqrt;
  double learning_rate = 7e-4;  // the highest
  int64_t warmup = 1500;        // updates until it is reached; 0: none
  double min_ratio = 0.0;       // cosine, linear: the final value, as a fraction of the highest
  int64_t decay_steps = 0;      // cosine, linear: updates until the final value; 0: all of the run
};

// The learning rate of update `step`, counted from 0: a function of the step, so that a resumed run
// goes on as if it had never stopped. The highest is reached at step warmup - 1, and
//   inverse-sqrt  rate * min((step + 1) / warmup, sqrt(warmup / (step + 1)))
//   cosine        rate * (m + (1 - m) (1 + cos(pi p)) / 2), p from 0 to 1 at the last update
//   linear        rate * (m + (1 - m) (1 - p))
// `total_steps` is the length of the run. Negative steps, and options out of range, throw.
double learning_rate(const ScheduleOptions& options, int64_t step, int64_t total_steps);

// Whether a longer run has other learning rates at the same steps.
bool depends_on_total_steps(const ScheduleOptions& options);

// How much of the moving average of the weights is kept at update `step` (from 0): `target`, and
// less at the beginning, when it averages few updates: min(target, (step + 1) / (step + 10)).
double ema_decay(double target, int64_t step);

}  // namespace tessera::train
