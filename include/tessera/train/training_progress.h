#pragma once

#include <cstdint>
#include <functional>
#include <optional>

namespace tessera {

// Where a training stands: reported whenever it writes a line of its log (train.log_every), and
// after every validation.
struct TrainingProgress {
  int64_t step = 0;   // updates made
  int64_t steps = 0;  // of the whole run
  int64_t epoch = 0;
  // Means over the updates since the last line.
  double loss = 0;
  double gradient_norm = 0;  // before clipping
  double updates_per_second = 0;
  double learning_rate = 0;     // of the last update
  std::optional<double> score;  // of a validation: the higher, the better
};

using OnTrainingProgress = std::function<void(const TrainingProgress&)>;

}  // namespace tessera
