#include "task/recipe.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace tessera::task {
namespace {

namespace fs = std::filesystem;

const fs::path kRecipes = fs::path(TESSERA_SOURCE_DIR) / "recipes";

Recipe recipe(const fs::path& path) {
  Recipe result(domain_of(path));
  config::Schema schema;
  declare(schema, result);
  schema.read_file(path);
  schema.finish();
  return result;
}

Recipe recipe(const std::string& name) {
  return recipe(kRecipes / (name + ".toml"));
}

TEST(Recipes, AllCanBeRead) {
  size_t seen = 0;
  for (const auto& entry : fs::directory_iterator(kRecipes)) {
    if (entry.path().extension() != ".toml") continue;
    ++seen;
    EXPECT_NO_THROW(recipe(entry.path())) << entry.path();
  }
  EXPECT_GE(seen, 20u);
}

// What the rows of the paper's tables are.
TEST(Recipes, EveryTextTaskHasItsVariants) {
  for (const std::string task : {"multi30k", "iwslt14", "wmt14", "wmt16", "gigaword"}) {
    SCOPED_TRACE(task);
    const double r = task == "gigaword" ? 0.5 : 1.0;
    const Recipe ours = recipe(task);
    EXPECT_EQ(ours.text.model.process.r, r);
    EXPECT_EQ(ours.text.model.process.trajectory.kind, TrajectoryKind::ot);
    const Recipe vp = recipe(task + "-vp");
    EXPECT_EQ(vp.text.model.process.r, r);
    EXPECT_EQ(vp.text.model.process.trajectory.kind, TrajectoryKind::vp_sqrt);
    const Recipe base = recipe(task + "-base");
    EXPECT_EQ(base.text.model.process.r, 0);
    EXPECT_EQ(base.text.model.process.noise_factor, 4);
    EXPECT_EQ(base.text.model.process.trajectory.kind, TrajectoryKind::vp_sqrt);
    EXPECT_EQ(recipe(task + "-difformer").text.model.process.r, 0);
    // Variants differ in the method, not in the size or the data.
    for (const char* variant : {"-vp", "-base", "-forward", "-velocity"}) {
      const Recipe other = recipe(task + variant);
      EXPECT_EQ(other.text.model.network.transformer.width,
                ours.text.model.network.transformer.width)
          << variant;
      EXPECT_EQ(other.text.data.batches.tokens, ours.text.data.batches.tokens) << variant;
      EXPECT_NEAR(other.run.steps, ours.run.steps, 0.05 * ours.run.steps) << variant;
    }
  }
}

TEST(Recipes, ImagesHaveEveryCoding) {
  for (const std::string coding : {"bits", "fixed", "trainable", "pixels"}) {
    const Recipe whole = recipe("cifar10-" + coding);
    const Recipe quick = recipe("cifar10-short" + (coding == "bits" ? "" : "-" + coding));
    for (const Recipe* each : {&whole, &quick}) {
      EXPECT_EQ(each->domain, Domain::images);
      EXPECT_EQ(name_of(each->image.model.coding.kind), coding);
      EXPECT_EQ(each->image.model.process.r, coding == "pixels" ? 0 : 0.5);
    }
    EXPECT_EQ(whole.image.model.network.width, 256);
    EXPECT_EQ(whole.run.steps, 1500000);
    EXPECT_LT(quick.run.steps, 10000);
  }
}

TEST(Recipes, TinyMakesItsOwnData) {
  EXPECT_EQ(recipe(std::string("tiny")).text.data.source, TextSource::dates);
}

}  // namespace
}  // namespace tessera::task
