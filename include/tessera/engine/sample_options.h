#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace tessera {

// How images are made. Options that are not set come from the model's folder.
struct SampleOptions {
  std::optional<int64_t> steps = {};  // of the sampler: more are slower
  // Diffusion of points.
  std::optional<double> r = {};              // confidence factor of sampling, 0 to 1
  std::optional<std::string> sampler = {};   // deterministic, gaussian, as-printed or difformer
  std::optional<std::string> path = {};      // altered or fixed
  std::optional<std::string> clock = {};     // absolute or velocity
  std::optional<std::string> estimate = {};  // raw, mean, nearest or rescaled
  // Diffusion of symbols.
  std::optional<std::string> order = {};      // random or confidence
  std::optional<std::string> predictor = {};  // ancestral, euler or tau-leaping
  std::optional<int64_t> correctors = {};     // further steps after every step
  std::optional<double> temperature = {};     // for drawing symbols; 0: the likeliest
  // Of both.
  std::optional<double> guidance = {};         // 1: as trained; above: classes show more
  std::optional<double> time_difference = {};  // steps the state is ahead of the time told
  std::optional<int64_t> batch = {};           // images made at a time; lower it if memory runs out

  bool operator==(const SampleOptions&) const = default;
};

}  // namespace tessera
