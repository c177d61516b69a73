#include "bench_boundary.h"
#include "bench_mean.h"
#include "command.h"

#include "option_checks.h"
#include "tensor/device.h"

#include <memory>

namespace tessera::app {
namespace {

void add_benchmark(CLI::App& bench, const GlobalOptions& globals, const std::string& name,
                   const std::string& what, void (*run)(const BenchOptions&)) {
  CLI::App* command = bench.add_subcommand(name, what);
  auto options = std::make_shared<BenchOptions>();
  command->add_option("--repeats", options->repeats, "timed runs of each version (median counts)")
      ->capture_default_str()
      ->check(whole_number(1));
  command
      ->add_option("--shape", options->shapes,
                   "elements,codes,dimensions; may be given several times")
      ->type_name("N,K,D")
      ->default_str("8000,10000,128 16000,40000,128");
  command->callback([options, run, &globals] {
    options->device = parse_device(globals.device);
    options->seed = globals.seed;
    options->json = globals.json;
    run(*options);
  });
}

}  // namespace

void add_bench(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* bench = program.add_subcommand("bench", "measure our kernels against plain LibTorch");
  bench->require_subcommand(1);
  add_benchmark(*bench, globals, "boundary",
                "stopping times: the streaming kernels against materialised LibTorch operations",
                bench_boundary);
  add_benchmark(*bench, globals, "mean",
                "means of codes under the scores of estimates: streamed against materialised",
                bench_mean);
}

}  // namespace tessera::app
