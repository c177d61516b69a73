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

TEST_F(ReportCommand, PrintsOrWritesMetricsAsATable) {
  for (const char* run : {"a", "b"}) {
    std::filesystem::create_directories(folder_ / run);
    write(std::string(run) + "/config.toml", "[train]\nout = \"a\"\n");
    write(std::string(run) + "/metrics.jsonl", "{\"step\":1,\"loss\":0.1}\n");
  }
  const auto printed = run("report a b --csv");
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_EQ(printed.out, "run,step,loss\na,1,0.1\nb,1,0.1\n");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "report.html"));

  const auto written = run("--json report a --csv --out t.csv");
  EXPECT_EQ(written.status, 0) << written.err;
  EXPECT_THAT(written.out, HasSubstr("\"table\": \"t.csv\""));
  EXPECT_EQ(tessera::read_file(folder_ / "t.csv"), "step,loss\n1,0.1\n");
  expect_failure("--json report a --csv", 2, HasSubstr("--out"));
  expect_failure("report a nowhere --csv", 1, HasSubstr("nowhere"));
}

TEST_F(ReportCommand, SaysWhatIsMissing) {
  const auto nothing = run("report nowhere");
  EXPECT_EQ(nothing.status, 1);
  EXPECT_THAT(nothing.err, HasSubstr("nowhere"));
  EXPECT_EQ(run("report").status, 2);
}

}  // namespace
