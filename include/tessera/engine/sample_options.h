#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera {

// How images are made. What is not set is as the model's folder says.
struct SampleOptions {
  std::optional<int64_t> steps = {};           // of the sampler: more are slower
  std::optional<double> r = {};                // confidence factor of sampling, 0 to 1
  std::optional<std::string> sampler = {};     // deterministic, gaussian, as-printed or difformer
  std::optional<std::string> path = {};        // altered or fixed
  std::optional<std::string> clock = {};       // absolute or velocity
  std::optional<std::string> estimate = {};    // raw, mean, nearest or rescaled
  std::optional<double> guidance = {};         // 1: as a class was trained; above: more of it
  std::optional<double> time_difference = {};  // steps the state is ahead of the time told
  std::optional<int64_t> batch = {};           // images made at a time; lower it if memory runs out

  bool operator==(const SampleOptions&) const = default;
};

}  // namespace tessera
