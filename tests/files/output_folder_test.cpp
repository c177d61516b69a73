#include "files/output_folder.h"

#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace tessera {
namespace {

namespace fs = std::filesystem;
using Existing = OutputFolder::Existing;
using testing::AllOf;
using testing::HasSubstr;

constexpr OutputFolder::Kind kHeap{
    "a heap", [](const fs::path& folder) { return fs::exists(folder / "heap"); },
    [](const fs::path&) { return std::set<std::string>{"heap"}; }};

class Heap : public testing::Test {
 protected:
  void write(const std::string& text, Existing existing = Existing::refuse) const {
    OutputFolder folder(path_, kHeap, existing);
    write_file_atomically(folder.path() / "heap", text);
    folder.commit();
  }

  test::TemporaryFolder folder_;
  const fs::path path_ = folder_ / "heap-1";
};

TEST_F(Heap, AppearsWhenItIsComplete) {
  {
    const OutputFolder folder(path_, kHeap, Existing::refuse);
    write_file_atomically(folder.path() / "heap", "half");
    EXPECT_FALSE(fs::exists(path_));
  }
  EXPECT_TRUE(fs::is_empty(folder_.path()));
  write("whole");
  EXPECT_EQ(read_file(path_ / "heap"), "whole");
}

TEST_F(Heap, IsReplacedOnlyWhereAsked) {
  write("first");
  EXPECT_THAT(test::complaint([&] { write("second"); }),
              AllOf(HasSubstr("there is a heap in it"), HasSubstr("--force")));
  EXPECT_EQ(read_file(path_ / "heap"), "first");
  write("third", Existing::replace);
  EXPECT_EQ(read_file(path_ / "heap"), "third");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_.path()), {}), 1) << "something stayed";
}

TEST_F(Heap, ReplacesNothingElse) {
  fs::create_directory(path_);
  write_file_atomically(path_ / "letter", "dear");
  for (const Existing existing : {Existing::refuse, Existing::replace})
    EXPECT_THAT(test::complaint([&] { write("x", existing); }), HasSubstr("is not a heap"));
  EXPECT_TRUE(fs::exists(path_ / "letter"));
}

TEST_F(Heap, IsNotReplacedWithWhatOthersPutIntoIt) {
  write("first");
  write_file_atomically(path_ / "letter", "dear");
  EXPECT_THAT(test::complaint([&] { write("second", Existing::replace); }),
              HasSubstr("holds 'letter', which is not part of a heap: it would be lost"));
  EXPECT_EQ(read_file(path_ / "heap"), "first");
  EXPECT_EQ(read_file(path_ / "letter"), "dear");
}

TEST_F(Heap, IsReplacedWhereALinkPointsTo) {
  const fs::path link = folder_ / "link";
  fs::create_directory(folder_ / "disk");
  fs::create_directory_symlink("disk/heap-1", link);
  for (const char* text : {"first", "second"}) {
    OutputFolder folder(link, kHeap, Existing::replace);
    write_file_atomically(folder.path() / "heap", text);
    folder.commit();
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_EQ(read_file(folder_ / "disk/heap-1/heap"), text);
  }
}

TEST_F(Heap, IsFoundWhereAKilledReplacementLeftIt) {
  fs::create_directory(folder_ / ".tessera-old-heap-1");
  write_file_atomically(folder_ / ".tessera-old-heap-1/heap", "first");
  EXPECT_THAT(test::complaint([&] { write("second"); }), HasSubstr("there is a heap in it"));
  EXPECT_EQ(read_file(path_ / "heap"), "first");
}

TEST_F(Heap, MayTakeThePlaceOfAnEmptyFolder) {
  fs::create_directory(path_);
  write("x");
  EXPECT_TRUE(fs::exists(path_ / "heap"));
}

}  // namespace
}  // namespace tessera
