#include "seq2seq/tiny_model.h"
#include "support/program.h"
#include "train/checkpoints.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include <string>

namespace {

using tessera::test::file_text;
using testing::HasSubstr;

// A run with three checkpoints, each with different weights.
class AverageCommand : public tessera::test::ProgramTest {
 protected:
  AverageCommand() {
    std::filesystem::create_directories(folder_ / "run");
    write("run/config.toml", "");
    tessera::train::Checkpoints checkpoints(folder_ / "run", tessera::train::RetentionOptions{});
    for (const int64_t step : {10, 20, 30})
      checkpoints.save(step, [&](const auto& folder) {
        const auto model = tessera::test::tiny_model(static_cast<uint64_t>(step));
        tessera::seq2seq::write_model_folder(folder, model, model.parameters().values(),
                                             tessera::test::tiny_tokenizer(),
                                             tessera::test::tiny_generation(), {});
      });
  }

  at::Tensor weights(const std::string& folder) const {
    return tessera::seq2seq::load_model_folder(folder_ / folder, at::kCPU)
        .model->parameters()
        .values();
  }
};

TEST_F(AverageCommand, AveragesTheLastCheckpointsIntoAModelThatGenerates) {
  const auto result = run("average run --last 2");
  ASSERT_EQ(result.status, 0) << result.err;
  EXPECT_EQ(result.out, "run/average-2\n");
  const at::Tensor expected = (weights("run/checkpoints/step-00000020").to(at::kDouble) +
                               weights("run/checkpoints/step-00000030"))
                                  .div(2)
                                  .to(at::kFloat);
  EXPECT_TRUE(at::equal(weights("run/average-2"), expected));
  write("in", "a b c\n");
  const auto generated = run("--device cpu generate run/average-2 <in");
  EXPECT_EQ(generated.status, 0) << generated.err;
  EXPECT_EQ(run("average run --last 2").status, 1) << "what is there stays";
}

TEST_F(AverageCommand, TakesTheStepsItIsGiven) {
  const auto result = run("average --steps 10,30 run --out mean --json");
  ASSERT_EQ(result.status, 0) << result.err;
  const auto report = nlohmann::json::parse(result.out);
  EXPECT_EQ(report["model"], "mean");
  EXPECT_EQ(report["averaged"].size(), 2u);
  ASSERT_EQ(run("average run/checkpoints/step-00000010 run/last --out other").status, 0);
  EXPECT_EQ(file_text(folder_ / "mean/model.safetensors"),
            file_text(folder_ / "other/model.safetensors"));
}

TEST_F(AverageCommand, SaysWhatItCannotAverage) {
  const auto many = run("average run --last 4");
  EXPECT_EQ(many.status, 1);
  EXPECT_THAT(many.err, HasSubstr("has 3 checkpoints, not 4"));
  const auto missing = run("average run --steps 10,25");
  EXPECT_EQ(missing.status, 1);
  EXPECT_THAT(missing.err, HasSubstr("no checkpoint of step 25"));
  EXPECT_EQ(run("average nowhere --last 2").status, 1);
  EXPECT_EQ(run("average run").status, 2) << "which checkpoints?";
  EXPECT_EQ(run("average run/last --last 2").status, 2);
  EXPECT_EQ(run("average run/last run/last").status, 2) << "where to?";
  EXPECT_EQ(run("average run --last 2 --steps 10").status, 2);
  write("run/checkpoints/step-00000020/model.safetensors", "broken");
  const auto broken = run("average run --last 2");
  EXPECT_EQ(broken.status, 1);
  EXPECT_THAT(broken.err, HasSubstr("damaged"));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "run/average-2"));
}

}  // namespace
