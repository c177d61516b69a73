#include "image/made_images.h"
#include "image/png.h"
#include "support/program.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <filesystem>
#include <string>

namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

class PrepareImagesCli : public tessera::test::ProgramTest {
 protected:
  static constexpr const char* kCifar = "prepare --images cifar10 --from cifar --out set ";

  PrepareImagesCli() { tessera::test::write_cifar10(folder_ / "cifar", 2); }

  void expect_error(const std::string& arguments, int status,
                    const testing::Matcher<const std::string&>& message) const {
    expect_failure(arguments, status, message);
    EXPECT_FALSE(fs::exists(folder_ / "set")) << arguments;
  }
};

TEST_F(PrepareImagesCli, MakesADataSetAndSaysWhatIsInIt) {
  const auto result = run(std::string(kCifar) + "--valid 3");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "set\n");
  const nlohmann::json manifest =
      nlohmann::json::parse(tessera::test::file_text(folder_ / "set/manifest.json"));
  EXPECT_THAT(result.err, AllOf(HasSubstr("train            7"), HasSubstr("valid            3"),
                                HasSubstr("test             2"), HasSubstr("32 x 32 RGB"),
                                HasSubstr("10 classes: airplane, automobile"),
                                HasSubstr(manifest["fingerprint"].get<std::string>())));
  for (const char* split : {"train", "valid", "test"})
    EXPECT_TRUE(fs::exists(folder_ / "set" / (std::string(split) + ".safetensors"))) << split;
}

TEST_F(PrepareImagesCli, ReportsInJson) {
  const auto result = run(std::string("--json --quiet ") + kCifar);
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.err, "");
  const nlohmann::json report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["folder"], "set");
  EXPECT_EQ(report["splits"]["train"]["images"], 10);
  EXPECT_EQ(report["options"]["images"], "cifar10");
}

TEST_F(PrepareImagesCli, PreparesIdxFilesAndPngs) {
  tessera::test::write_idx(folder_ / "idx");
  const auto idx = run("--json prepare --images idx --from idx --out a");
  ASSERT_EQ(idx.status, 0) << idx.err;
  EXPECT_EQ(nlohmann::json::parse(idx.out)["channels"], 1);
  fs::create_directory(folder_ / "png");
  tessera::image::write_png(folder_ / "png/a.png", tessera::test::made_images({3, 4, 4}));
  const auto png = run("--json prepare --images png --from png --out b");
  ASSERT_EQ(png.status, 0) << png.err;
  EXPECT_EQ(nlohmann::json::parse(png.out)["splits"]["train"]["images"], 1);
  EXPECT_THAT(png.err, HasSubstr("no classes"));
}

TEST_F(PrepareImagesCli, ReplacesADataSetOnlyWhenForced) {
  ASSERT_EQ(run(kCifar).status, 0);
  const auto refused = run(kCifar);
  EXPECT_EQ(refused.status, 1);
  EXPECT_THAT(refused.err, AllOf(HasSubstr("'set' exists"), HasSubstr("--force")));
  EXPECT_EQ(run(std::string(kCifar) + "--valid 1 --force").status, 0);
  EXPECT_TRUE(fs::exists(folder_ / "set/valid.safetensors"));
}

TEST_F(PrepareImagesCli, NeverReplacesACorpus) {
  ASSERT_EQ(run("prepare --tiny --pairs 10 --out words").status, 0);
  const auto result = run("prepare --images cifar10 --from cifar --out words --force");
  EXPECT_EQ(result.status, 1);
  EXPECT_THAT(result.err, HasSubstr("not a data set of images"));
  EXPECT_TRUE(fs::exists(folder_ / "words/dict.txt"));
}

TEST_F(PrepareImagesCli, EndsWithTwoForWrongUsage) {
  expect_error("prepare --images cifar10 --from cifar", 2, HasSubstr("--out"));
  expect_error("prepare --images cifar10 --out set", 2, HasSubstr("--from"));
  expect_error("prepare --images cifar --from cifar --out set", 2,
               HasSubstr("did you mean 'cifar10'"));
  expect_error("prepare --from cifar --out set", 2, HasSubstr("--images"));
  for (const char* option : {"--train a b", "--test a b", "--tokenizer words", "--vocab 80",
                             "--pretokenised", "--codes a", "--dict a", "--max-length 9",
                             "--max-ratio 2", "--replace-invalid", "--tiny", "--pairs 9"}) {
    const std::string name = std::string(option).substr(0, std::string(option).find(' '));
    expect_error(std::string(kCifar) + option, 2, AllOf(HasSubstr(name), HasSubstr("for text")));
  }
  for (const char* valid : {"many", "-1", "1.5", "1 2"})
    expect_error(std::string(kCifar) + "--valid " + valid, 2, HasSubstr("--valid"));
}

TEST_F(PrepareImagesCli, EndsWithOneForBrokenData) {
  expect_error("prepare --images cifar10 --from nowhere --out set", 1, HasSubstr("nowhere"));
  expect_error("prepare --images idx --from cifar --out set", 1,
               HasSubstr("train-images-idx3-ubyte"));
  expect_error("prepare --images png --from cifar --out set", 1, HasSubstr("no .png files"));
  expect_error(std::string(kCifar) + "--valid 10", 1, HasSubstr("10 images"));
  fs::resize_file(folder_ / "cifar/test_batch.bin", 100);
  expect_error(kCifar, 1, AllOf(HasSubstr("test_batch.bin"), HasSubstr("cut off")));
}

}  // namespace
