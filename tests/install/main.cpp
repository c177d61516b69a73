// What a user writes: codes, their own network, a sampler.

#include <tessera/tessera.h>

#include <ATen/ATen.h>

#include <iostream>

int main() {
  const tessera::EmbeddingTable table(at::eye(8), {.normalise = tessera::Normalise::l2});
  const at::Tensor target = at::tensor({3, 1, 4, 1, 5}, at::kLong).expand({2, 5});
  const tessera::Denoiser network = [&](const at::Tensor&, const at::Tensor&, const at::Tensor&) {
    return table.encode(target);
  };
  const tessera::Process process({.r = 1.0});
  const tessera::Sampler sampler(process, table, network, {.steps = 5});
  const tessera::Sample sample = sampler.run(at::arange(2, at::kLong), {5, 8});
  std::cout << "tessera " << tessera::version() << ": " << sample.calls << " calls, "
            << (at::equal(sample.labels, target) ? "right" : "wrong") << '\n';
  return at::equal(sample.labels, target) ? 0 : 1;
}
