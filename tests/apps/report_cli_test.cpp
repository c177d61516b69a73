#include "support/program.h"

#include "files/files.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace {

using testing::HasSubstr;

class ReportCommand : public tessera::test::ProgramTest {};

TEST_F(ReportCommand, WritesAPageAndPrintsItsName) {
  std::filesystem::create_directories(folder_ / "a");
  write("a/config.toml", "[train]\nout = \"a\"\n");
  write("a/metrics.jsonl", "{\"step\":1,\"loss\":4.0}\n{\"step\":2,\"loss\":2.0}\n");
  const auto result = run("report a --out page.html");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "page.html\n");
  EXPECT_THAT(tessera::read_file(folder_ / "page.html"), HasSubstr("<svg"));
}

TEST_F(ReportCommand, SaysWhatIsMissing) {
  const auto nothing = run("report nowhere");
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.err, HasSubstr("nowhere"));
  EXPECT_EQ(run("report").status, 2);
}

}  // namespace
