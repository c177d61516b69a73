#include "process/rank_statistics.h"

#include "support/processes.h"
#include "support/tensors.h"

#include <tessera/codebook/embedding_table.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace tessera {
namespace {

struct RankScene {
  EmbeddingTable table{test::unit_codes(500, 32, 1), {.normalise = Normalise::none}};
  at::Tensor labels = test::labels({400}, 500, 2);

  RankStatistics ranks(std::string_view trajectory, double r, double factor) const {
    ProcessOptions options = test::process_with(trajectory, r, 1000).options();
    options.noise_factor = factor;
    return rank_statistics(Process(options), table, labels, 5, 3);
  }
};

TEST(RankStatistics, AreOnesInsideTheCellAndChanceAtTheEnd) {
  const RankStatistics found = RankScene().ranks("ot", 0, 1);
  EXPECT_THAT(found.times, testing::ElementsAre(0.2, 0.4, 0.6, 0.8, 1.0));
  EXPECT_EQ(found.median.front(), 1);
  EXPECT_GT(found.median.back(), 150);  // of 500
  EXPECT_LT(found.median.back(), 350);
}

TEST(RankStatistics, GrowWithTheBoundaryAndWithTheNoise) {
  const RankScene scene;
  for (const char* trajectory : {"ot", "vp-sqrt"}) {
    EXPECT_LT(scene.ranks(trajectory, 0, 1).mean_log, scene.ranks(trajectory, 1, 1).mean_log);
    EXPECT_LT(scene.ranks(trajectory, 0, 1).mean_log, scene.ranks(trajectory, 0, 4).mean_log);
  }
}

}  // namespace
}  // namespace tessera
