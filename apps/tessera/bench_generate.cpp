#include "bench_generate.h"

#include "base/require.h"
#include "engine/text_engine.h"
#include "generation_settings.h"
#include "nn/int8.h"
#include "tensor/device.h"
#include "text/line_reader.h"

#include <tessera/engine/engine.h>
#include <tessera/version.h>

#include <ATen/Parallel.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <memory>

namespace tessera::app {
namespace {

using Json = nlohmann::ordered_json;
using Watch = std::chrono::steady_clock;

double seconds_since(Watch::time_point begin) {
  return std::chrono::duration<double>(Watch::now() - begin).count();
}

// The value below which a share of the values lies.   values: at least one
double quantile(std::vector<double> values, double share) {
  const auto place = static_cast<std::ptrdiff_t>(share * static_cast<double>(values.size() - 1));
  std::nth_element(values.begin(), values.begin() + place, values.end());
  return values[static_cast<size_t>(place)];
}

struct LoadedEngine {
  std::string precision;
  double load_seconds;
  Engine engine;
};

// One row of the table.
struct Setting {
  const LoadedEngine* loaded;
  std::string work;  // "fast", "beam 5"
  GenerateOptions options;
  std::vector<double> rates = {};  // sentences/s of every repeat
  std::vector<double> singles = {};
  std::vector<std::string> texts = {};
};

std::vector<std::string> lines_of(const GenerationBench& bench) {
  std::vector<std::string> lines;
  text::LineReader reader(bench.input);
  for (std::string_view line; std::ssize(lines) < bench.lines && reader.next(line);)
    lines.emplace_back(line);
  require(!lines.empty(), "'{}' has no lines", bench.input);
  return lines;
}

std::vector<std::string> precisions_of(const GenerationBench& bench, const GlobalOptions& globals) {
  if (!bench.precisions.empty()) return bench.precisions;
  std::vector<std::string> all{"float32", "bfloat16"};
  if (parse_device(globals.device).is_cpu() && nn::has_int8_kernels()) all.emplace_back("int8");
  return all;
}

std::vector<LoadedEngine> load(const GenerationBench& bench, const GlobalOptions& globals) {
  std::vector<LoadedEngine> engines;
  for (const std::string& precision : precisions_of(bench, globals)) {
    ModelSettings settings = bench.model;
    settings.precision = precision;
    const auto begin = Watch::now();
    Engine engine(settings.folder, settings.load_options(globals));
    engines.push_back({precision, seconds_since(begin), std::move(engine)});
  }
  return engines;
}

std::vector<Setting> settings_of(const GenerationBench& bench,
                                 const std::vector<LoadedEngine>& engines) {
  std::vector<Setting> settings;
  for (const LoadedEngine& loaded : engines) {
    const auto add = [&](const std::string& work, GenerateOptions options) {
      options.length = bench.options.length;
      loaded.engine.in_effect(options);  // refuses what makes no sense
      settings.push_back({&loaded, work, std::move(options)});
    };
    if (loaded.engine.text().model().family() != nullptr) {
      const std::vector<std::string> usual{"fast", "balanced"};
      for (const std::string& preset : bench.presets.empty() ? usual : bench.presets)
        add(preset, {.preset = preset});
    } else {
      const std::vector<int64_t> usual{1, 5};
      for (const int64_t beam : bench.beams.empty() ? usual : bench.beams)
        add(fmt::format("beam {}", beam), {.beam = beam});
    }
  }
  return settings;
}

std::vector<std::string> generate(const Setting& setting, std::span<const std::string> lines,
                                  uint64_t seed) {
  const std::vector<TextRequest> requests =
      requests_for({lines.begin(), lines.end()}, /*first_line=*/0, setting.options, seed);
  std::vector<std::string> texts;
  for (const TextResult& result : setting.loaded->engine.run(requests)) {
    if (result.failure) std::rethrow_exception(result.failure);
    texts.push_back(result.text);
  }
  return texts;
}

void time_generation(std::vector<Setting>& settings, const std::vector<std::string>& lines,
                     const GenerationBench& bench, uint64_t seed) {
  const std::span<const std::string> all(lines);
  const auto singles = all.first(std::min(all.size(), static_cast<size_t>(bench.singles)));
  for (const Setting& setting : settings)  // warms up
    generate(setting, all.first(std::min<size_t>(all.size(), 8)), seed);
  // In turn, so that a change in the machine's speed affects all of them.
  for (int repeat = 0; repeat < bench.repeats; ++repeat)
    for (Setting& setting : settings) {
      auto begin = Watch::now();
      setting.texts = generate(setting, all, seed);
      setting.rates.push_back(static_cast<double>(lines.size()) / seconds_since(begin));
      for (size_t k = 0; k < singles.size(); ++k) {
        begin = Watch::now();
        generate(setting, singles.subspan(k, 1), seed);
        setting.singles.push_back(seconds_since(begin));
      }
    }
}

Json report_of(const Setting& setting) {
  constexpr double kMilliseconds = 1e3;
  return {{"precision", setting.loaded->precision},
          {"preset", setting.work},
          {"sentences_per_second", quantile(setting.rates, 0.5)},
          {"all_sentences_per_second", setting.rates},
          {"p50_ms", kMilliseconds * quantile(setting.singles, 0.5)},
          {"p99_ms", kMilliseconds * quantile(setting.singles, 0.99)},
          {"load_seconds", setting.loaded->load_seconds},
          {"texts", setting.texts}};
}

}  // namespace

void bench_generate(const GenerationBench& bench, const GlobalOptions& globals) {
  const std::vector<std::string> lines = lines_of(bench);
  const std::vector<LoadedEngine> engines = load(bench, globals);
  std::vector<Setting> settings = settings_of(bench, engines);
  time_generation(settings, lines, bench, globals.seed);

  Json report{{"version", version()},
              {"lines", lines.size()},
              {"threads", at::get_num_threads()},
              {"rows", Json::array()}};
  for (const Setting& setting : settings) report["rows"].push_back(report_of(setting));
  if (globals.json) {
    fmt::print("{}\n", report.dump());
    return;
  }
  fmt::print("{} lines, {} threads, {}: medians of {}\n\n", lines.size(), at::get_num_threads(),
             parse_device(globals.device).str(), bench.repeats);
  fmt::print("{:<10} {:<9} {:>12} {:>12} {:>12} {:>9}\n", "", "", "sentences/s", "alone, p50",
             "alone, p99", "loading");
  for (const Json& row : report["rows"])
    fmt::print("{:<10} {:<9} {:>12.1f} {:>9.1f} ms {:>9.1f} ms {:>7.2f} s\n",
               row["precision"].get<std::string>(), row["preset"].get<std::string>(),
               row["sentences_per_second"].get<double>(), row["p50_ms"].get<double>(),
               row["p99_ms"].get<double>(), row["load_seconds"].get<double>());
  std::fflush(stdout);
}

}  // namespace tessera::app
