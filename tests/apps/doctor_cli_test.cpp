#include "support/program.h"

#include <tessera/version.h>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <thread>

namespace {

using testing::AnyOf;
using testing::HasSubstr;
using testing::IsSupersetOf;
using testing::Not;
using testing::StartsWith;

class DoctorCommand : public tessera::test::ProgramTest {};

TEST_F(DoctorCommand, FindsAMachineThatRunsTheTestsUsable) {
  const auto result = run("doctor");
  EXPECT_EQ(result.status, 0) << result.out << result.err;
  EXPECT_EQ(result.err, "");
  EXPECT_THAT(result.out, StartsWith("ok       tessera"));
  EXPECT_THAT(result.out, HasSubstr(tessera::version()));
  EXPECT_EQ(result.out.find("problem"), std::string::npos) << result.out;
}

TEST_F(DoctorCommand, SaysHowEverythingIsAndWhatToDo) {
  const auto result = run("--json doctor");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["usable"], true);
  std::set<std::string> names;
  for (const auto& finding : report["findings"]) {
    names.insert(finding["name"]);
    EXPECT_THAT(finding["health"], AnyOf("ok", "warning")) << finding;
    EXPECT_NE(finding["text"], "") << finding;
    EXPECT_EQ(finding["advice"] == "", finding["health"] == "ok") << finding;
  }
  EXPECT_THAT(names,
              IsSupersetOf({"tessera", "LibTorch", "CPU", "threads", "memory", "disk", "lzma",
                            "server", "cpu boundary", "cpu float32", "cpu bfloat16"}));
}

TEST_F(DoctorCommand, AdvisesAgainstMoreThreadsThanCores) {
  const auto result =
      run(fmt::format("--threads {} doctor", std::thread::hardware_concurrency() + 1));
  EXPECT_EQ(result.status, 0) << result.err;
  EXPECT_THAT(result.out, HasSubstr("warning  CPU"));
  EXPECT_THAT(result.out, HasSubstr("--threads"));
}

TEST_F(DoctorCommand, ThreadsThatWaitSleepUnlessTheUserSaysOtherwise) {
  const std::string ask = "OMP_DISPLAY_ENV=verbose env -u OMP_WAIT_POLICY -u GOMP_SPINCOUNT ";
  const auto plain = run_in(ask, "doctor");
  EXPECT_THAT(plain.err, HasSubstr("GOMP_SPINCOUNT = '0'"));
  EXPECT_THAT(plain.out, HasSubstr("ok       threads"));
  const auto asked = run_in(ask + "OMP_WAIT_POLICY=active ", "doctor");
  EXPECT_THAT(asked.err, Not(HasSubstr("GOMP_SPINCOUNT = '0'")));
  EXPECT_THAT(asked.out, HasSubstr("warning  threads"));
}

}  // namespace
