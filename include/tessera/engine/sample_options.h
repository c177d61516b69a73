#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera {

// How images are made. What is not set is as the model's folder says.
struct SampleOptions {
  std::optional<int64_t> steps = {};  // of the sampler: more are slower
  // Of diffusion of points.
  std::optional<double> r = {};              // confidence factor of sampling, 0 to 1
  std::optional<std::string> sampler = {};   // deterministic, gaussian, as-printed or difformer
  std::optional<std::string> path = {};      // altered or fixed
  std::optional<std::string> clock = {};     // absolute or velocity
  std::optional<std::string> estimate = {};  // raw, mean, nearest or rescaled
  // Of diffusion of symbols.
  std::optional<std::string> order = {};      // random or confidence
  std::optional<std::string> predictor = {};  // ancestral, euler or tau-leaping
  std::optional<int64_t> correctors = {};     // further steps after every step
  std::optional<double> temperature = {};     // of the symbols that are drawn; 0: the likeliest
  // Of both.
  std::optional<double> guidance = {};         // 1: as a class was trained; above: more of it
  std::optional<double> time_difference = {};  // steps the state is ahead of the time told
  std::optional<int64_t> batch = {};           // images made at a time; lower it if memory runs out

  bool operator==(const SampleOptions&) const = default;
};

}  // namespace tessera
