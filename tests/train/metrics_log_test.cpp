#include "train/metrics_log.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/small_disk.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <cmath>
#include <fstream>

namespace tessera::train {
namespace {

using test::complaint;
using test::quick_place;
using test::said;
using test::SmallDisk;
using test::TemporaryFolder;
using testing::HasSubstr;

std::vector<int64_t> steps_in(const std::filesystem::path& path) {
  std::vector<int64_t> steps;
  for (const auto& line : MetricsLog::read(path)) steps.push_back(line.at("step"));
  return steps;
}

void write_steps(const std::filesystem::path& path, int64_t first, int64_t last) {
  MetricsLog log(path);
  for (int64_t step = first; step <= last; ++step) log.write(step, {{"loss", 1.0 / double(step)}});
}

TEST(MetricsLog, WritesOneObjectALineInOrder) {
  const TemporaryFolder folder(quick_place());
  MetricsLog log(folder / "metrics.jsonl");
  log.write(100, {{"loss", 1.5}, {"rate", 0.001}});
  EXPECT_EQ(read_file(folder / "metrics.jsonl"), "{\"step\":100,\"loss\":1.5,\"rate\":0.001}\n");
  log.write(100, {{"bleu", 31.25}});
  EXPECT_EQ(MetricsLog::read(folder / "metrics.jsonl").at(1).at("bleu"), 31.25);
}

TEST(MetricsLog, IsNotWrittenThroughALink) {
  const TemporaryFolder folder(quick_place());
  std::ofstream(folder / "precious") << "{\"step\":1}\nmine";
  std::filesystem::create_symlink("precious", folder / "metrics.jsonl");
  EXPECT_THAT(complaint([&] { MetricsLog(folder / "metrics.jsonl"); }),
              HasSubstr("is a symbolic link"));
  EXPECT_EQ(read_file(folder / "precious"), "{\"step\":1}\nmine");
}

TEST(MetricsLog, WritesWhatJsonCannotHold) {
  const TemporaryFolder folder(quick_place());
  MetricsLog log(folder / "m");
  log.write(1, {{"loss", std::nan("")}, {"sample", "\xff\n"}});
  EXPECT_EQ(read_file(folder / "m"), "{\"step\":1,\"loss\":null,\"sample\":\"\xef\xbf\xbd\\n\"}\n");
}

TEST(MetricsLog, NumbersComeBackToTheBit) {
  const TemporaryFolder folder(quick_place());
  MetricsLog(folder / "m").write(1, {{"loss", 0.1 + 0.2}});
  EXPECT_EQ(MetricsLog::read(folder / "m").at(0).at("loss").get<double>(), 0.1 + 0.2);
}

TEST(MetricsLog, ResumeDropsTheStepsThatWillComeAgain) {
  const TemporaryFolder folder(quick_place());
  write_steps(folder / "m", 1, 6);
  {
    MetricsLog log(folder / "m", 4);
    EXPECT_EQ(steps_in(folder / "m"), (std::vector<int64_t>{1, 2, 3, 4}));
    log.write(5, {{"loss", 0.2}});
  }
  EXPECT_EQ(steps_in(folder / "m"), (std::vector<int64_t>{1, 2, 3, 4, 5}));
  const MetricsLog from_the_start(folder / "m", 0);
  EXPECT_EQ(read_file(folder / "m"), "");
}

TEST(MetricsLog, DropsBrokenLinesAndSaysSo) {
  const TemporaryFolder folder(quick_place());
  write_steps(folder / "m", 1, 2);
  std::ofstream(folder / "m", std::ios::app) << "[1]\n{\"step\":3}\n{\"step\":4,\"lo";
  EXPECT_EQ(steps_in(folder / "m"), (std::vector<int64_t>{1, 2, 3}));
  EXPECT_THAT(said([&] {
                MetricsLog(folder / "m").write(4, {{"loss", 1}});
              }),
              HasSubstr("2 broken lines"));
  EXPECT_EQ(steps_in(folder / "m"), (std::vector<int64_t>{1, 2, 3, 4}));
  EXPECT_EQ(said([&] { const MetricsLog untouched(folder / "m"); }), "");
}

TEST(MetricsLog, ReadsNothingWhereThereIsNoFile) {
  const TemporaryFolder folder(quick_place());
  EXPECT_TRUE(MetricsLog::read(folder / "none").empty());
}

TEST(MetricsLog, SurvivesAFullDiskAndLeavesNoHalfLine) {
  const TemporaryFolder folder(quick_place());
  MetricsLog log(folder / "m");
  log.write(1, {{"note", std::string(4000, 'x')}});
  const std::string before = read_file(folder / "m");
  const std::string text = said([&] {
    const SmallDisk disk(4050);  // the warnings go to a file too
    log.write(2, {{"note", std::string(100, 'x')}});
    log.write(3, {{"note", std::string(100, 'x')}});
  });
  EXPECT_THAT(text, HasSubstr("the run goes on"));
  EXPECT_EQ(text.find("goes on"), text.rfind("goes on")) << "said once, not at every line";
  EXPECT_EQ(read_file(folder / "m"), before);
  EXPECT_THAT(said([&] { log.write(4, {{"loss", 4}}); }), HasSubstr("2 lines are lost"));
  EXPECT_EQ(steps_in(folder / "m"), (std::vector<int64_t>{1, 4}));
}

TEST(MetricsLog, NamesAFileThatCannotBeOpened) {
  const TemporaryFolder folder(quick_place());
  EXPECT_THAT(complaint([&] { MetricsLog log(folder / "none/m"); }), HasSubstr("none/m"));
}

}  // namespace
}  // namespace tessera::train
