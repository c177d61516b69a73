#include "tensor/device.h"

#include "support/complaint.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
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
  const std::string name = "cuda:" + std::to_string(cuda_device_count());
  const std::string said = test::complaint([&] { parse_device(name); });
  EXPECT_THAT(said, testing::StartsWith("device '" + name + "' was asked for, but "));
  EXPECT_THAT(said, testing::HasSubstr(cuda_device_count() > 0 ? "| use cuda:0" : "device cpu"));
}

}  // namespace
}  // namespace tessera
