#include "nn/group_norm.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

struct GroupNormBench {
  GroupNormBench() {
    norm = GroupNorm(parameters, "norm", 24);
    parameters.allocate(at::kCPU, Precision::float32, 1);
    at::manual_seed(1);
    parameters.values().uniform_(0.5, 1.5);
    x = at::randn({3, 4, 6, 24}) * 2 + 1;
    film = at::randn({3, 48}) * 0.3;
  }

  // The same with LibTorch's operations.
  at::Tensor expected(const at::Tensor& input, const at::Tensor& told, bool silu) {
    const auto named = parameters.named(parameters.values());
    at::Tensor y = at::group_norm(input.permute({0, 3, 1, 2}), GroupNorm::groups(24),
                                  named.at("norm.scale"), named.at("norm.shift"))
                       .permute({0, 2, 3, 1});
    if (told.defined()) {
      const auto parts = told.chunk(2, 1);
      y = y * (1 + parts[0].unsqueeze(1).unsqueeze(1)) + parts[1].unsqueeze(1).unsqueeze(1);
    }
    return silu ? at::silu(y) : y;
  }

  Parameters parameters;
  GroupNorm norm;
  at::Tensor x, film;
};

TEST(GroupNorm, IsThatOfLibTorchWithWhatFollows) {
  GroupNormBench bench;
  const at::Tensor none;
  for (const bool silu : {false, true})
    for (const at::Tensor& told : {none, bench.film}) {
      const at::Tensor got = bench.norm(bench.x, silu ? After::silu : After::nothing, told);
      EXPECT_TRUE(at::allclose(got, bench.expected(bench.x, told, silu), 1e-4, 1e-5));
    }
}

TEST(GroupNorm, AddsAnOffsetBeforehand) {
  GroupNormBench bench;
  const at::Tensor offset = at::randn({24}), none;
  EXPECT_TRUE(at::allclose(bench.norm(bench.x, After::silu, bench.film, offset),
                           bench.norm(bench.x + offset, After::silu, bench.film)));
  EXPECT_FALSE(at::allclose(bench.norm(bench.x, After::silu, none, offset),
                            bench.norm(bench.x, After::silu)));
}

TEST(GroupNorm, HasTheGradientsOfThatToo) {
  GroupNormBench bench;
  const at::Tensor weights = at::randn(bench.x.sizes());
  const auto gradients = [&](auto&& function) {
    const at::Tensor x = bench.x.clone().requires_grad_();
    const at::Tensor film = bench.film.clone().requires_grad_();
    (function(x, film) * weights).sum().backward();
    return std::vector<at::Tensor>{x.grad(), film.grad()};
  };
  const auto got = gradients([&](const at::Tensor& x, const at::Tensor& film) {
    return bench.norm(x, After::silu, film);
  });
  bench.parameters.gather_gradients();
  bench.parameters.collect_gradients();
  const at::Tensor own = bench.parameters.gradients().clone();
  const at::Tensor values = bench.parameters.values().detach().requires_grad_();
  const auto expected = gradients([&](const at::Tensor& x, const at::Tensor& film) {
    const at::Tensor y = at::group_norm(x.permute({0, 3, 1, 2}), GroupNorm::groups(24),
                                        values.narrow(0, 0, 24), values.narrow(0, 24, 24))
                             .permute({0, 2, 3, 1});
    const auto parts = film.chunk(2, 1);
    return at::silu(y * (1 + parts[0].unsqueeze(1).unsqueeze(1)) +
                    parts[1].unsqueeze(1).unsqueeze(1));
  });
  EXPECT_TRUE(at::allclose(got[0], expected[0], 1e-3, 1e-5));
  EXPECT_TRUE(at::allclose(got[1], expected[1], 1e-3, 1e-4));
  EXPECT_TRUE(at::allclose(own, values.grad(), 1e-3, 1e-4));
}

}  // namespace
}  // namespace tessera::nn
