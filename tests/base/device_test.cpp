#include "base/device.h"

#include <tessera/base/error.h>

#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(Device, IsParsedFromItsName) {
  EXPECT_TRUE(parse_device("cpu").is_cpu());
  EXPECT_EQ(parse_device("auto").is_cuda(), cuda_device_count() > 0);
}

TEST(Device, RefusesUnknownNames) {
  for (const char* name : {"", "gpu", "cuda:", "cuda:x", "cuda:-1", "cuda:1x", "CPU"})
    EXPECT_THROW(parse_device(name), UsageError) << name;
}

TEST(Device, RefusesADeviceThatIsNotThere) {
  EXPECT_THROW(parse_device("cuda:" + std::to_string(cuda_device_count())), Error);
}

}  // namespace
}  // namespace tessera
