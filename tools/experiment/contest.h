#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "experiment/columns.h"
#include "text_metric/bootstrap.h"

namespace tessera::experiment {

// A finished evaluation.
struct Evaluated {
  std::string key;  // of its result
  uint64_t seed = 0;
  const Json* report = nullptr;      // what `tessera evaluate --json` printed
  std::filesystem::path hypotheses;  // a file with its sentences
  std::filesystem::path corpus;      // that its sentences come from
};

// Is a row better than the base row by more than the choice of test sentences explains?
struct Contest {
  double difference = 0;        // of the scores of all lines
  double p_value = 1;           // of the paired bootstrap
  std::vector<uint64_t> seeds;  // that both have
  size_t lines = 0;             // that are drawn, each with the outputs of all seeds
  std::string signature;        // of the metric, with samples and seed
  text_metric::BootstrapOptions drawn;
};

// Paired bootstraps of rows against the base row, over the seeds that both have, seed against seed.
// Remembers what it has computed.
class Contests {
 public:
  explicit Contests(const text_metric::BootstrapOptions& options) : options_(options) {}

  //   column  a metric that adds up over lines; others have no contest
  // Nothing if they share no seed, or if their sentences do not belong together.
  std::optional<Contest> find(const std::string& column, std::span<const Evaluated> base,
                              std::span<const Evaluated> row);

 private:
  std::optional<Contest> hold(const std::string& column, std::span<const Evaluated> base,
                              std::span<const Evaluated> row);
  const std::vector<std::string>& references(const Evaluated& evaluated);

  text_metric::BootstrapOptions options_;
  std::map<std::string, std::optional<Contest>> known_;
  std::map<std::string, std::vector<std::string>> references_;
};

}  // namespace tessera::experiment
