// Gives a reader its seeds and damaged copies of them, and reports the outcome.
//   fuzz_readers --list
//   fuzz_readers TARGET --seeds DIR [--runs N] [--seconds S] [--seed N] [--failures DIR]
//   fuzz_readers TARGET FILE...    reads these files alone, and says what the reader says
#include "files/files.h"
#include "fuzz/failure.h"
#include "fuzz/mutator.h"
#include "fuzz/reading.h"
#include "fuzz/targets.h"

#include <ATen/Parallel.h>
#include <cxxabi.h>
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <typeinfo>
#include <vector>

namespace tessera::fuzz {
namespace {

namespace fs = std::filesystem;

struct Options {
  const Target* target = nullptr;
  std::vector<fs::path> files;
  fs::path seeds;
  fs::path failures = "fuzz-failures";
  uint64_t runs = 2000;
  uint64_t seed = 1;
  std::optional<double> seconds;  // instead of runs
};

[[noreturn]] void usage(const std::string& problem) {
  fmt::print(stderr,
             "{}\nusage: fuzz_readers TARGET --seeds DIR [--runs N] [--seconds S] [--seed N] "
             "[--failures DIR]\n       fuzz_readers TARGET FILE...\n       fuzz_readers --list\n",
             problem);
  std::exit(2);
}

Options parse(std::span<char*> arguments) {
  Options options;
  if (arguments.empty()) usage("no target");
  options.target = find_target(arguments.front());
  if (options.target == nullptr) usage(fmt::format("no target '{}'", arguments.front()));
  for (size_t k = 1; k < arguments.size(); ++k) {
    const std::string word = arguments[k];
    if (!word.starts_with("--")) {
      options.files.emplace_back(word);
      continue;
    }
    if (++k == arguments.size()) usage(fmt::format("{} needs a value", word));
    if (word == "--seeds")
      options.seeds = arguments[k];
    else if (word == "--failures")
      options.failures = arguments[k];
    else if (word == "--runs")
      options.runs = std::strtoull(arguments[k], nullptr, 10);
    else if (word == "--seed")
      options.seed = std::strtoull(arguments[k], nullptr, 10);
    else if (word == "--seconds")
      options.seconds = std::strtod(arguments[k], nullptr);
    else
      usage(fmt::format("no option {}", word));
  }
  return options;
}

std::vector<std::string> read_seeds(const fs::path& folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::directory_iterator(folder)) files.push_back(entry.path());
  std::sort(files.begin(), files.end());
  std::vector<std::string> seeds;
  for (const fs::path& file : files) seeds.push_back(read_file(file));
  return seeds;
}

// What the readers said, without numbers and quoted text. Inputs with a new kind of outcome are
// worth changing further.
std::string kind_of(std::string_view text) {
  std::string kind;
  bool quoted = false;
  for (const char byte : text) {
    if (byte == '\'' || byte == '\n') quoted = byte == '\'' && !quoted;
    if (!quoted && (byte < '0' || byte > '9') && static_cast<unsigned char>(byte) < 0x80)
      kind += byte;
  }
  return kind;
}

class Trial {
 public:
  explicit Trial(const Options& options)
      : target_(*options.target), watch_(std::string(target_.name), options.failures) {}

  // What went wrong when the input was read; nothing if all went well.
  std::optional<std::string> problem(const std::string& input) {
    said().clear();
    watch_.begin(input);
    std::optional<std::string> found;
    try {
      target_.read(input);
    } catch (const std::exception& failure) {
      int status = 0;
      char* const name = abi::__cxa_demangle(typeid(failure).name(), nullptr, nullptr, &status);
      found = fmt::format("{}: {}", name != nullptr ? name : "exception", failure.what());
      std::free(name);
    }
    watch_.end();
    if (!found && watch_.too_much_memory()) found = "more memory than any input is worth";
    if (found) *found += "\n" + std::string(target_.name) + " " + watch_.save().string();
    return found;
  }

 private:
  const Target& target_;
  Watch watch_;
};

int replay(const Options& options) {
  Trial trial(options);
  for (const fs::path& file : options.files) {
    const auto problem = trial.problem(read_file(file));
    fmt::print("{}: {}\n{}", file.string(), problem ? "FAILED" : "all is well", said());
    if (!problem) continue;
    fmt::print("{}\n", *problem);
    return 1;
  }
  return 0;
}

int fuzz(const Options& options) {
  using Clock = std::chrono::steady_clock;
  const auto begin = Clock::now();
  const auto passed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const std::vector<std::string> seeds = read_seeds(options.seeds);
  Mutator mutator(options.seed, seeds);
  Trial trial(options);
  std::set<std::string> kinds;
  uint64_t inputs = 0;
  const auto go_on = [&] {
    return options.seconds ? passed() < *options.seconds : inputs < options.runs;
  };
  while (inputs < seeds.size() || go_on()) {
    std::string input = inputs < seeds.size() ? seeds[inputs] : mutator.make(inputs);
    ++inputs;
    if (const auto problem = trial.problem(input)) {
      fmt::print("{}: FAILED at input {} of seed {}: {}\n", options.target->name, inputs,
                 options.seed, *problem);
      return 1;
    }
    if (kinds.insert(kind_of(said())).second && inputs > seeds.size())
      mutator.keep(std::move(input));
  }
  fmt::print("{}: {} inputs in {:.1f} s, of {} seeds; {} outcomes, no failure\n",
             options.target->name, inputs, passed(), seeds.size(), kinds.size());
  return 0;
}

int run(std::span<char*> arguments) {
  if (!arguments.empty() && std::string_view(arguments.front()) == "--list") {
    for (const Target& target : targets()) fmt::print("{}\n", target.name);
    return 0;
  }
  const Options options = parse(arguments);
  at::set_num_threads(1);
  return options.files.empty() ? fuzz(options) : replay(options);
}

}  // namespace
}  // namespace tessera::fuzz

int main(int count, char** arguments) {
  return tessera::fuzz::run({arguments + 1, static_cast<size_t>(count - 1)});
}
