#include "nn/precision.h"

#include "nn/int8.h"

#include <tessera/base/error.h>

#include <gtest/gtest.h>

namespace tessera::nn {
namespace {

TEST(Precision, IsThatOfTheDeviceUnlessItIsNamed) {
  const c10::Device cpu(c10::kCPU), gpu(c10::kCUDA, 0);
  EXPECT_EQ(parse_precision("auto", cpu), Precision::float32);
  EXPECT_EQ(parse_precision("auto", gpu), Precision::bfloat16);
  EXPECT_EQ(parse_precision("bfloat16", cpu), Precision::bfloat16);
  EXPECT_EQ(parse_precision("float32", gpu), Precision::float32);
  EXPECT_THROW(parse_precision("float16", gpu), UsageError);
}

TEST(Precision, Of8BitsIsForCpusThatHaveKernels) {
  const c10::Device cpu(c10::kCPU), gpu(c10::kCUDA, 0);
  EXPECT_THROW(parse_precision("int8", gpu), UsageError);
  if (has_int8_kernels())
    EXPECT_EQ(parse_precision("int8", cpu), Precision::int8);
  else
    EXPECT_THROW(parse_precision("int8", cpu), UsageError);
}

}  // namespace
}  // namespace tessera::nn
