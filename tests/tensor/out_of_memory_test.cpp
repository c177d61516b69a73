#include "tensor/out_of_memory.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(OutOfMemory, IsToldFromOtherErrors) {
  bool found = false;
  try {
    at::empty({int64_t{1} << 50}, at::kByte);  // a petabyte
  } catch (const c10::Error& error) {
    found = is_out_of_memory(error);
  }
  EXPECT_TRUE(found);
  try {
    at::zeros({2}).add(at::zeros({3}));
    ADD_FAILURE();
  } catch (const c10::Error& error) {
    EXPECT_FALSE(is_out_of_memory(error));
  }
}

}  // namespace
}  // namespace tessera
