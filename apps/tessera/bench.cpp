#include "bench_boundary.h"
#include "bench_generate.h"
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

void add_generation_benchmark(CLI::App& bench, const GlobalOptions& globals) {
  CLI::App* command = bench.add_subcommand(
      "generate", "sentences a second and the time of one sentence, by precision and work");
  command->footer(
      "Precisions and presets are measured in turn. The first columns are the rate of all lines\n"
      "together, the others the time of a line alone.\n"
      "  tessera bench generate models/mine --input lines --precision float32,int8");
  auto options = std::make_shared<GenerationBench>();
  add_model_option(*command, options->model);
  command->add_option("--input", options->input, "sources, one a line; .xz and .gz are read")
      ->required()
      ->option_text("FILE");
  command
      ->add_option("--precision", options->precisions,
                   "number formats of the network (default: all that the device has)")
      ->delimiter(',')
      ->option_text("float32,bfloat16,int8");
  command
      ->add_option("--preset", options->presets,
                   "amounts of work of a diffusion model (default: fast,balanced)")
      ->delimiter(',')
      ->option_text("fast,balanced,best");
  command
      ->add_option("--beam", options->beams, "hypotheses of an autoregressive model (default: 1,5)")
      ->delimiter(',')
      ->option_text("N,N");
  command
      ->add_option("--length", options->options.length,
                   "symbols to write, of all lines (default: as the model predicts)")
      ->option_text("N");
  command->add_option("--lines", options->lines, "of the input, at most")
      ->capture_default_str()
      ->check(whole_number(1));
  command->add_option("--singles", options->singles, "lines that are timed alone, at most")
      ->capture_default_str()
      ->check(whole_number(1));
  command->add_option("--repeats", options->repeats, "timed runs (median counts)")
      ->capture_default_str()
      ->check(whole_number(1));
  command->callback([options, &globals] { bench_generate(*options, globals); });
}

}  // namespace

void add_bench(CLI::App& program, const GlobalOptions& globals) {
  CLI::App* bench =
      program.add_subcommand("bench", "measure speed: of generation, and of our kernels");
  bench->require_subcommand(1);
  add_benchmark(*bench, globals, "boundary",
                "stopping times: the streaming kernels against materialised LibTorch operations",
                bench_boundary);
  add_benchmark(*bench, globals, "mean",
                "means of codes under the scores of estimates: streamed against materialised",
                bench_mean);
  add_generation_benchmark(*bench, globals);
}

}  // namespace tessera::app
