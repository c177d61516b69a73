#pragma once

#include <nlohmann/json_fwd.hpp>

#include <cstdint>
#include <deque>
#include <optional>
#include <string>

namespace tessera::train {

struct DivergenceOptions {
  double factor = 10.0;  // a loss above this many times the recent median is a spike; 0: never
  int64_t window = 50;   // losses the median is taken of; spikes are not among them
  int64_t spikes = 3;    // in a row before a run stops
};

// Stops a run whose loss explodes: at once if it is not finite, otherwise after some spikes in a
// row. Looks for spikes when the window is half full, and not around a median of 0 or less.
class DivergenceWatch {
 public:
  explicit DivergenceWatch(const DivergenceOptions& options = {});

  // Takes a loss seen at `step`; returns why the run should stop, if it should.
  std::optional<std::string> add(int64_t step, double loss);

  nlohmann::json state() const;
  void restore(const nlohmann::json& state);

 private:
  double median() const;

  DivergenceOptions options_;
  std::deque<double> recent_;  // oldest first
  int64_t spikes_ = 0;         // in a row, until now
};

}  // namespace tessera::train
