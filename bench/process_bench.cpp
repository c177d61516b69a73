// Micro-benchmarks of the parts of a training step and of a sampler step that are not the network.

#include <tessera/tessera.h>

#include <ATen/ATen.h>
#include <benchmark/benchmark.h>

namespace tessera {
namespace {

constexpr int64_t kBatch = 64, kLength = 32, kSymbols = 8000, kDim = 128;

struct Text {
  EmbeddingTable table{
      random_normal({1, Purpose::test, 0}, at::arange(kSymbols, at::kLong), {kDim})};
  at::Tensor samples = at::arange(kBatch, at::kLong);
  at::Tensor labels = random_integers({2, Purpose::test, 0}, at::arange(kBatch* kLength, at::kLong),
                                      0, kSymbols - 1)
                          .reshape({kBatch, kLength});
  at::Tensor x0 = table.encode(labels);
  at::Tensor eps = random_normal({3, Purpose::test, 0}, samples, {kLength, kDim});
};

Process process_with(double r) {
  ProcessOptions options;
  options.r = r;
  return Process(options);
}

void noise_a_batch(benchmark::State& state) {
  const Text text;
  const Process process = process_with(static_cast<double>(state.range(0)));
  const at::Tensor t = process.draw_time({1, Purpose::training_time, 0}, text.samples);
  for (auto _ : state)
    benchmark::DoNotOptimize(process.noise(text.table, text.x0, text.labels, text.eps, t));
  state.SetItemsProcessed(state.iterations() * kBatch * kLength);
}
BENCHMARK(noise_a_batch)->ArgName("r")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void sample_without_a_network(benchmark::State& state) {
  const Text text;
  const Process process = process_with(static_cast<double>(state.range(0)));
  const Denoiser perfect = [&](const at::Tensor&, const at::Tensor&, const at::Tensor&) {
    return text.x0;
  };
  const Sampler sampler(process, text.table, perfect, {.steps = 10});
  for (auto _ : state) benchmark::DoNotOptimize(sampler.run(text.samples, {kLength, kDim}));
  state.SetItemsProcessed(state.iterations() * kBatch * kLength * 10);
}
BENCHMARK(sample_without_a_network)->ArgName("r")->Arg(0)->Arg(1)->Unit(benchmark::kMillisecond);

void draw_normal_noise(benchmark::State& state) {
  const at::Tensor samples = at::arange(kBatch, at::kLong);
  for (auto _ : state)
    benchmark::DoNotOptimize(random_normal({1, Purpose::test, 0}, samples, {kLength, kDim}));
  state.SetItemsProcessed(state.iterations() * kBatch * kLength * kDim);
}
BENCHMARK(draw_normal_noise)->Unit(benchmark::kMillisecond);

void time_of_ratio(benchmark::State& state) {
  const Trajectory trajectory("vp-sqrt", 2000);
  const at::Tensor rho = at::rand({kBatch * kLength});
  for (auto _ : state) benchmark::DoNotOptimize(trajectory.time_of_ratio(rho));
  state.SetItemsProcessed(state.iterations() * kBatch * kLength);
}
BENCHMARK(time_of_ratio)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace tessera
