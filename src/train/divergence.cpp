#include "train/divergence.h"

#include "base/require.h"
#include "files/json_file.h"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <vector>

namespace tessera::train {

using nlohmann::json;

DivergenceWatch::DivergenceWatch(const DivergenceOptions& options) : options_(options) {
  require_option(options.factor == 0 || options.factor > 1,
                 "divergence_factor must be 0 or above 1, got {}", options.factor);
  require_option(options.window >= 1, "divergence_window must be at least 1, got {}",
                 options.window);
  require_option(options.spikes >= 1, "divergence_spikes must be at least 1, got {}",
                 options.spikes);
}

std::optional<std::string> DivergenceWatch::add(int64_t step, double loss) {
  if (!std::isfinite(loss)) return fmt::format("the loss is {} at step {}", loss, step);
  const bool judges = options_.factor > 0 &&
                      2 * static_cast<int64_t>(recent_.size()) >= options_.window && median() > 0;
  if (judges && loss > options_.factor * median()) {
    if (++spikes_ < options_.spikes) return std::nullopt;
    return fmt::format(
        "the loss explodes: {:.4g} at step {}, {} in a row above {} times the usual "
        "{:.4g}",
        loss, step, spikes_, options_.factor, median());
  }
  spikes_ = 0;
  recent_.push_back(loss);
  while (static_cast<int64_t>(recent_.size()) > options_.window) recent_.pop_front();
  return std::nullopt;
}

double DivergenceWatch::median() const {
  std::vector<double> sorted(recent_.begin(), recent_.end());
  const auto middle = sorted.begin() + static_cast<std::ptrdiff_t>(sorted.size() / 2);
  std::nth_element(sorted.begin(), middle, sorted.end());
  return *middle;
}

json DivergenceWatch::state() const {
  return {{"recent", recent_}, {"spikes", spikes_}};
}

void DivergenceWatch::restore(const json& state) {
  try {
    auto recent = state.at("recent").get<std::deque<double>>();
    spikes_ = state.at("spikes").get<int64_t>();
    recent_ = std::move(recent);
  } catch (const json::exception& error) {
    throw Error(
        fmt::format("the state of the divergence watch is broken: {}", json_problem(error)));
  }
}

}  // namespace tessera::train
