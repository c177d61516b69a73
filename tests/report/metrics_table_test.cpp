#include <tessera/report/metrics_table.h>

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

namespace tessera {
namespace {

using test::complaint;
using testing::HasSubstr;
using testing::StartsWith;

class MetricsTable : public testing::Test {
 protected:
  // A run that measured `metrics`.
  std::filesystem::path run(const std::string& name, const std::string& metrics) {
    const std::filesystem::path path = folder_ / name;
    std::filesystem::create_directories(path);
    write_file_atomically(path / "config.toml", "");
    write_file_atomically(path / "metrics.jsonl", metrics);
    return path;
  }

  std::string csv(const std::vector<std::filesystem::path>& runs) { return metrics_csv(runs); }

  test::TemporaryFolder folder_;
};

TEST_F(MetricsTable, HasALineForEveryRecordAndAColumnForEveryValue) {
  EXPECT_EQ(csv({run("a",
                     "{\"step\":1,\"loss\":4.5}\n"
                     "{\"step\":1,\"valid_loss\":4.25,\"valid_bleu\":10}\n"
                     "{\"step\":2,\"loss\":2.0,\"rate\":1e-05}\n")}),
            "step,loss,valid_loss,valid_bleu,rate\n"
            "1,4.5,,,\n"
            "1,,4.25,10,\n"
            "2,2.0,,,1e-05\n");
}

TEST_F(MetricsTable, KeepsEveryDigit) {
  EXPECT_EQ(csv({run("a", "{\"x\":5.1118035316467285,\"y\":0.1,\"z\":18446744073709551615}\n")}),
            "x,y,z\n5.1118035316467285,0.1,18446744073709551615\n");
}

TEST_F(MetricsTable, LeavesCellsEmptyWhereNothingWasMeasured) {
  EXPECT_EQ(csv({run("a", "{\"loss\":null,\"b\":true}\n{}\nbroken\n{\"b\":false}\n")}),
            "loss,b\n,true\n,\n,false\n");
}

TEST_F(MetricsTable, LeavesOutListsAndPictures) {
  EXPECT_EQ(csv({run("a",
                     "{\"step\":1,\"histogram\":[0.5],\"examples\":[{\"source\":\"x\"}],"
                     "\"images\":\"data:image/png;base64,AA\",\"name\":\"FD-x\"}\n")}),
            "step,name\n1,FD-x\n");
}

TEST_F(MetricsTable, QuotesTextThatWouldBreakALine) {
  EXPECT_EQ(csv({run("a", R"({"a,b":"x","c":"say \"y\"","d":"1\n2","e":"\u001b[31m"})"
                          "\n")}),
            "\"a,b\",c,d,e\nx,\"say \"\"y\"\"\",\"1\n2\",\\x1b[31m\n");
}

TEST_F(MetricsTable, BeginsWithTheRunIfThereAreSeveral) {
  const auto a = run("a", "{\"step\":1,\"loss\":3}\n"), b = run("b,c", "{\"step\":1,\"bleu\":2}\n");
  EXPECT_EQ(csv({a, b / ""}), "run,step,loss,bleu\na,1,3,\n\"b,c\",1,,2\n");
}

TEST_F(MetricsTable, TellsRunsOfOneNameApart) {
  const auto a = run("x/run", "{\"step\":1}\n"), b = run("y/run", "{\"step\":2}\n");
  EXPECT_EQ(csv({a, b}), "run,step\n" + a.string() + ",1\n" + b.string() + ",2\n");
}

TEST_F(MetricsTable, SaysWhatIsNoRun) {
  EXPECT_THAT(complaint([&] { csv({folder_ / "nowhere"}); }), HasSubstr("nowhere"));
  const auto empty = run("empty", "");
  EXPECT_THAT(complaint([&] {
                csv({run("a", "{\"step\":1}\n"), empty});
              }),
              HasSubstr("empty/metrics.jsonl' holds no measurements"));
}

TEST_F(MetricsTable, RefusesATableThatWouldHaveNoEnd) {
  std::string metrics;
  for (int k = 0; k < 1001; ++k) metrics += "{\"v" + std::to_string(k) + "\":1}\n";
  EXPECT_THAT(complaint([&] { csv({run("a", metrics)}); }), HasSubstr("more than 1000 different"));

  std::string names = "{";
  for (int k = 0; k < 1000; ++k) names += (k > 0 ? ",\"" : "\"") + std::to_string(k) + "\":1";
  metrics = names + "}\n";
  for (int k = 0; k < 100'000; ++k) metrics += "{}\n";
  EXPECT_THAT(complaint([&] { csv({run("b", metrics)}); }),
              StartsWith("a table of 100001 records"));
}

}  // namespace
}  // namespace tessera
