#pragma once

#include <CLI/CLI.hpp>

#include <cstdint>
#include <string>

namespace tessera::app {

class Console;

// Options every sub-command takes.
struct GlobalOptions {
  std::string device = "auto";  // auto, cpu, cuda or cuda:N
  int threads = 0;              // 0: as LibTorch chooses
  uint64_t seed = 1;
  bool quiet = false;
  bool json = false;
  Console* console = nullptr;  // what the program speaks through
};

// One function per sub-command: adds it to the program. The work is done in the sub-command's
// callback, after the global options are in force; it prints data on stdout and throws
// tessera::Error for main() to report.
void add_average(CLI::App& program, const GlobalOptions& globals);
void add_bench(CLI::App& program, const GlobalOptions& globals);
void add_bpe(CLI::App& program);
void add_completion(CLI::App& program);
void add_distill(CLI::App& program, const GlobalOptions& globals);
void add_doctor(CLI::App& program, const GlobalOptions& globals);
void add_evaluate(CLI::App& program, const GlobalOptions& globals);
// Reads the options of `evaluate` and does nothing with them.
void add_evaluate_check(CLI::App& program);
void add_experiment(CLI::App& program, const GlobalOptions& globals);
void add_export(CLI::App& program, const GlobalOptions& globals);
void add_fid(CLI::App& program, const GlobalOptions& globals);
void add_flow(CLI::App& program, const GlobalOptions& globals);
void add_generate(CLI::App& program, const GlobalOptions& globals);
void add_inspect(CLI::App& program, const GlobalOptions& globals);
void add_man(CLI::App& program);
void add_options(CLI::App& program);
void add_report(CLI::App& program, const GlobalOptions& globals);
void add_train(CLI::App& program, const GlobalOptions& globals);
void add_sample(CLI::App& program, const GlobalOptions& globals);
void add_score(CLI::App& program, const GlobalOptions& globals);
void add_score_model(CLI::App& program, const GlobalOptions& globals);
void add_serve(CLI::App& program, const GlobalOptions& globals);
void add_prepare(CLI::App& program, const GlobalOptions& globals);

}  // namespace tessera::app
