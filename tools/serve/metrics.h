#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "serve/refusal.h"

namespace tessera::serve {

// How often values fell below fixed bounds. Threads may add at the same time, without a lock.
class Histogram {
 public:
  static constexpr size_t kMostBounds = 20;

  // At most kMostBounds, ascending.
  explicit Histogram(std::vector<double> bounds);

  void add(double value);

  // Lines of Prometheus: name_bucket, name_sum, name_count.
  //   labels  as in braces ("route=\"/health\""), or empty
  void write(std::string& text, std::string_view name, std::string_view labels) const;

 private:
  std::vector<double> bounds_;
  std::array<std::atomic<uint64_t>, kMostBounds + 1> counts_{};
  std::atomic<double> sum_{0};
};

// What the server counts.
class Metrics {
 public:
  struct Route {
    std::string pattern;  // never the path a client sent: labels must be bounded
    Histogram seconds;
    std::array<std::atomic<uint64_t>, 600> by_status{};

    explicit Route(std::string pattern);
  };

  struct Model {
    std::string name, kind, languages;
    Histogram batch_texts, batch_tokens, batch_seconds;
    std::atomic<uint64_t> network_calls{0};

    Model(std::string name, std::string kind, std::string languages);
  };

  // Before the first request; what is returned lives as long as the metrics.
  Route& add_route(std::string pattern);
  Model& add_model(std::string name, std::string kind, std::string languages);
  void describe(std::string device) { device_ = std::move(device); }

  void refused(RefusedBecause reason) { ++refused_[static_cast<size_t>(reason)]; }

  std::atomic<int64_t> queue_texts{0}, in_flight{0}, streams{0}, connections{0};
  std::atomic<uint64_t> abandoned{0};
  Histogram queue_seconds;

  Metrics();

  // All of it, as text/plain; version=0.0.4.
  std::string text() const;

 private:
  std::vector<std::unique_ptr<Route>> routes_;
  std::vector<std::unique_ptr<Model>> models_;
  std::array<std::atomic<uint64_t>, 9> refused_{};
  std::string device_;
};

}  // namespace tessera::serve
