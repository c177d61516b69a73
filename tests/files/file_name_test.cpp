#include "files/file_name.h"

#include "support/complaint.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

TEST(FileName, IsPlainWhereItStaysInItsFolder) {
  for (const char* name : {"train", "train.src.ids", "..x", "a b", "-", "ärger", ".hidden"})
    EXPECT_TRUE(is_plain_file_name(name)) << name;
  for (const char* name : {"", ".", "..", "../escape", "/etc/passwd", "a/b", "a/", "/"})
    EXPECT_FALSE(is_plain_file_name(name)) << name;
  EXPECT_FALSE(is_plain_file_name(std::string_view("a\0b", 3)));
  EXPECT_TRUE(is_plain_file_name(std::string(255, 'x')));
  EXPECT_FALSE(is_plain_file_name(std::string(256, 'x')));
}

TEST(FileName, IsRefusedWithWhatItWasFor) {
  EXPECT_NO_THROW(require_file_name("valid", "the name of a split"));
  EXPECT_EQ(test::complaint([] { require_file_name("../escape", "the name of a split"); }),
            "the name of a split cannot be '../escape': it becomes the name of a file");
}

}  // namespace
}  // namespace tessera
