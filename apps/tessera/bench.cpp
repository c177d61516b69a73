#include "bench_boundary.h"
#include "command.h"

#include "base/device.h"
#include "option_checks.h"

#include <memory>

namespace tessera::app {

void add_bench(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* bench = program.add_subcommand("bench", "measure our kernels against plain LibTorch");
  bench->require_subcommand(1);

  CLI::App* boundary = bench->add_subcommand(
      "boundary", "stopping times: the streaming kernels against materialised LibTorch operations");
  auto options = std::make_shared<BoundaryBenchOptions>();
  boundary->add_option("--repeats", options->repeats, "timed runs of each version (median counts)")
      ->capture_default_str()
      ->check(whole_number(1));
  boundary
      ->add_option("--shape", options->shapes,
                   "elements,codes,dimensions; may be given several times")
      ->type_name("N,K,D")
      ->default_str("8000,10000,128 16000,40000,128");
  boundary->callback([options, &globals] {
    options->device = parse_device(globals.device);
    options->seed = globals.seed;
    options->json = globals.json;
    bench_boundary(*options);
  });
}

}  // namespace tessera::app
