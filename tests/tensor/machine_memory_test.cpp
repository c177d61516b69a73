#include "tensor/machine_memory.h"

#include "support/complaint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

using testing::AllOf;
using testing::HasSubstr;

TEST(MachineMemory, IsThere) {
  const Memory memory = machine_memory();
  EXPECT_GT(memory.total, 1u << 28);
  EXPECT_GT(memory.available, 0u);
  EXPECT_LE(memory.available, memory.total);
}

TEST(MachineMemory, WhatDoesNotFitIsRefusedWithTheNumber) {
  require_memory(1e6, "a thing", "");
  EXPECT_THAT(test::complaint([] { require_memory(3.3e15, "a thing", "make it smaller"); }),
              AllOf(HasSubstr("a thing: that takes 3001.3 TiB of memory, and there are "),
                    HasSubstr("in all | make it smaller")));
}

TEST(MachineMemory, IsWrittenForPeople) {
  EXPECT_EQ(bytes_text(17), "17 B");
  EXPECT_EQ(bytes_text(31.25 * 1024 * 1024 * 1024), "31.2 GiB");
}

}  // namespace
}  // namespace tessera
