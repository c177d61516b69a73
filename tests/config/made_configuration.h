#pragma once

#include "config/config.h"

#include <tessera/base/enum_names.h>
#include <tessera/base/error.h>

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

namespace tessera::test {

enum class Path { straight, curved };

}  // namespace tessera::test

template <>
struct tessera::EnumNames<tessera::test::Path> {
  using Path = tessera::test::Path;
  static constexpr std::string_view what = "path";
  static constexpr std::array<std::pair<Path, std::string_view>, 2> values = {
      {{Path::straight, "straight"}, {Path::curved, "curved"}}};
};

namespace tessera::test {

struct ProcessOptions {
  double r = 0.5;
  Path trajectory = Path::straight;
  std::optional<double> temperature;
};

struct Options {
  std::string name = "run";
  uint64_t seed = 7;
  bool fast = false;
  int64_t steps = 100;
  std::filesystem::path data = "data/train";
  std::vector<int64_t> widths = {64, 128};
  std::vector<double> betas = {0.9, 0.999};
  std::vector<std::string> languages = {"de", "en"};
  ProcessOptions process;

  bool operator==(const Options& other) const {
    return name == other.name && seed == other.seed && fast == other.fast && steps == other.steps &&
           data == other.data && widths == other.widths && betas == other.betas &&
           languages == other.languages && process.r == other.process.r &&
           process.trajectory == other.process.trajectory &&
           process.temperature == other.process.temperature;
  }
};

inline void declare(config::Schema& schema, const std::string& prefix, ProcessOptions& options) {
  schema.option(prefix + "r", options.r, "confidence factor").range(0, 1);
  schema.option(prefix + "trajectory", options.trajectory, "the way from data to noise");
  schema.option(prefix + "temperature", options.temperature, "of the softmax").above(0);
}

inline void declare(config::Schema& schema, Options& options) {
  schema.option("name", options.name, "of the run");
  schema.option("seed", options.seed, "of all random numbers");
  schema.option("train.fast", options.fast, "cut corners");
  schema.option("train.steps", options.steps, "how many")
      .at_least(1)
      .check([](int64_t steps) { return steps % 10 == 0; }, "a multiple of 10");
  schema.option("train.data", options.data, "where the data is");
  schema.option("train.widths", options.widths, "of the layers").at_least(1);
  schema.option("train.betas", options.betas, "of the optimiser").range(0, 1);
  schema.option("train.languages", options.languages, "from which into which");
  declare(schema, "process.", options.process);
}

// A schema with options of every type.
struct Configuration {
  Options options;
  config::Schema schema;

  Configuration() { declare(schema, options); }

  std::vector<std::string> problems() {
    try {
      schema.finish();
    } catch (const UsageError& error) {
      std::vector<std::string> lines;
      std::istringstream text(error.what());
      for (std::string line; std::getline(text, line);) lines.push_back(line);
      return lines;
    }
    return {};
  }
};

using Lines = std::vector<std::string>;

inline Lines problems_of(std::string_view toml) {
  Configuration config;
  config.schema.read_text(toml, "x.toml");
  Lines found = config.problems();
  EXPECT_TRUE(found.empty() || config.options == Options()) << "fields were changed";
  return found;
}

}  // namespace tessera::test
