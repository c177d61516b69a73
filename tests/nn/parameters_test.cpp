#include "nn/parameters.h"

#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "support/tensors.h"

#include <tessera/base/error.h>

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>
#include <vector>

namespace tessera::nn {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;

struct Small {
  explicit Small(Precision precision = Precision::float32) {
    scale = parameters.add("scale", {3}, Initial::ones(), Use::codes);
    matrix = parameters.add("matrix", {2, 3}, Initial::normal(0.5), Use::network);
    shift = parameters.add("shift", {2}, Initial::zeros(), Use::network);
    parameters.allocate(at::kCPU, precision, /*seed=*/7);
  }
  Parameters parameters;
  Weight scale, matrix, shift;
};

TEST(Parameters, AreViewsOfOneBuffer) {
  Small small;
  EXPECT_EQ(small.parameters.count(), 11);
  EXPECT_TRUE(at::equal(*small.scale, at::ones({3})));
  EXPECT_TRUE(at::equal(*small.shift, at::zeros({2})));
  EXPECT_GT(small.matrix->detach().abs().min().item<float>(), 0);
  small.parameters.values().fill_(3);
  EXPECT_TRUE(at::equal(small.matrix->detach(), at::full({2, 3}, 3.0f)));
}

TEST(Parameters, GatherGradientsInOneBuffer) {
  Small small;
  const at::Tensor x = at::ones({4, 3});
  for (int i = 0; i < 2; ++i) {
    at::linear(x * *small.scale, *small.matrix, *small.shift).sum().backward();
    small.parameters.gather_gradients();
  }
  small.parameters.collect_gradients();
  const auto gradients = small.parameters.named(small.parameters.gradients());
  EXPECT_TRUE(at::equal(gradients.at("matrix"), at::full({2, 3}, 8.0f)));
  EXPECT_TRUE(at::equal(gradients.at("shift"), at::full({2}, 8.0f)));
  small.parameters.zero_gradients();
  EXPECT_EQ(gradients.at("matrix").abs().sum().item<float>(), 0);
}

TEST(Parameters, ComputeProductsInLowPrecisionFromFloat32Weights) {
  Small small(Precision::bfloat16);
  EXPECT_EQ(small.matrix->scalar_type(), at::kBFloat16);
  EXPECT_EQ(small.scale->scalar_type(), at::kFloat);
  small.parameters.values().fill_(0.3);
  small.parameters.publish();
  EXPECT_EQ(small.matrix->detach()[0][0].item<float>(),
            at::scalar_tensor(0.3).to(at::kBFloat16).item<float>());
  (small.matrix->sum() + small.scale->sum()).backward();
  small.parameters.gather_gradients();
  small.parameters.collect_gradients();
  const auto gradients = small.parameters.named(small.parameters.gradients());
  EXPECT_TRUE(at::equal(gradients.at("matrix"), at::ones({2, 3})));
  EXPECT_TRUE(at::equal(gradients.at("scale"), at::ones({3})));
  EXPECT_EQ(gradients.at("shift").abs().sum().item<float>(), 0);
}

TEST(Parameters, StartFromTheSeed) {
  Small first, second;
  EXPECT_TRUE(at::equal(first.parameters.values(), second.parameters.values()));
  Parameters other;
  other.add("a", {2, 3}, Initial::normal(0.5), Use::network);
  other.allocate(at::kCPU, Precision::float32, /*seed=*/8);
  EXPECT_FALSE(at::equal(other.named(other.values()).at("a"), *first.matrix));
}

TEST(Parameters, ReadWhatWasStored) {
  const test::TemporaryFolder folder;
  Small written, read;
  written.parameters.values().normal_();
  safetensors::save(folder / "w", written.parameters.named(written.parameters.values()));
  read.parameters.read(safetensors::File(folder / "w"), "", read.parameters.values());
  const auto expected = written.parameters.named(written.parameters.values());
  for (const auto& [name, weight] : read.parameters.named(read.parameters.values()))
    EXPECT_TRUE(at::equal(weight, expected.at(name))) << name;
}

TEST(Parameters, BeginAtPlacesThatSuitWideLoads) {
  Small small;
  for (const auto& [name, weight] : small.parameters.named(small.parameters.values()))
    EXPECT_EQ(weight.storage_offset() % 8, 0) << name;
}

TEST(Parameters, SayWhatDoesNotFit) {
  const test::TemporaryFolder folder;
  Small small;
  safetensors::save(
      folder / "w",
      {{"scale", at::ones({3})}, {"matrix", at::ones({2, 4})}, {"layer", at::ones({2})}});
  try {
    small.parameters.read(safetensors::File(folder / "w"), "", small.parameters.values());
    FAIL() << "read weights of another shape";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("'matrix' has shape [2, 4], not [2, 3]"));
    EXPECT_THAT(error.what(), HasSubstr("'shift' is missing"));
    EXPECT_THAT(error.what(), HasSubstr("'layer' is left over"));
  }
}

TEST(Parameters, ThatNoMachineCanHoldAreRefusedBeforeTheyAreAllocated) {
  Parameters large;
  large.add("matrix", {1 << 19, 1 << 19}, Initial::normal(), Use::network);
  EXPECT_THAT(test::complaint([&] { large.allocate(at::kCPU, Precision::float32, 1); }),
              AllOf(HasSubstr("274,877,906,944 parameters"), HasSubstr("5.0 TiB of memory"),
                    HasSubstr("model.width")));
  Parameters larger;
  EXPECT_THAT(test::complaint([&] {
                for (int k = 0; k < 100; ++k)
                  larger.add("matrix", {1 << 19, 1 << 19}, Initial::normal(), Use::network);
              }),
              HasSubstr("more than 1,099,511,627,776 parameters"));
}

TEST(Parameters, RefuseShapesThatAreNone) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{3, 0},
                                            {-1},
                                            {int64_t{1} << 40, int64_t{1} << 40},
                                            {std::numeric_limits<int64_t>::max(), 3}}) {
    Parameters parameters;
    EXPECT_THAT(
        test::complaint([&] { parameters.add("matrix", shape, Initial::normal(), Use::network); }),
        HasSubstr("'matrix' cannot have the shape ["));
  }
}

TEST(Parameters, BeginAsTheyWereStored) {
  const test::TemporaryFolder folder;
  Small first;
  safetensors::save(folder / "w", first.parameters.named(first.parameters.values()));
  const safetensors::File stored(folder / "w");
  Parameters again;
  again.add("scale", {3}, Initial::zeros(), Use::codes);
  again.add("matrix", {2, 3}, Initial::zeros(), Use::network);
  again.add("shift", {2}, Initial::ones(), Use::network);
  again.allocate(at::kCPU, Precision::float32, stored);
  EXPECT_TRUE(at::equal(again.values(), first.parameters.values()));

  // Shapes that do not fit are reported before any memory is allocated.
  Parameters others;
  others.add("matrix", {1 << 19, 1 << 19}, Initial::normal(), Use::network);
  EXPECT_THAT(test::complaint([&] { others.allocate(at::kCPU, Precision::float32, stored); }),
              HasSubstr("'matrix' has shape [2, 3], not [524288, 524288]"));
}

}  // namespace
}  // namespace tessera::nn
