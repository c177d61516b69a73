#include "experiment/result_store.h"

#include "experiment/columns.h"
#include "files/files.h"
#include "support/temporary_folder.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <string>

namespace tessera::experiment {
namespace {

using test::TemporaryFolder;

// The result found for a job whose file has these contents.
std::optional<Json> found(const std::string& json) {
  const TemporaryFolder folder;
  std::filesystem::create_directories(folder / "results");
  write_file_atomically(folder / "results/job.json", json);
  return ResultStore(folder.path()).find("job", "k");
}

TEST(ResultStore, FindsAResultByItsKey) {
  const auto result =
      found(R"({"key":"k","evaluation":{"metrics":[{"name":"BLEU","score":31.5}]}})");
  ASSERT_TRUE(result.has_value());
  EXPECT_EQ(value_of(result->at("evaluation"), "bleu"), 31.5);
  EXPECT_FALSE(found(R"({"key":"another"})").has_value());
}

// A damaged result counts as missing, so it is made again.
TEST(ResultStore, FindsNothingInADamagedFile) {
  for (const char* damaged :
       {"", "[]", "{}", R"({"key":1})", R"({"key":"k","command":1})",
        R"({"key":"k","evaluation":1})", R"({"key":"k","evaluation":{"split":1}})",
        R"({"key":"k","evaluation":{"metrics":1}})", R"({"key":"k","evaluation":{"metrics":[1]}})",
        R"({"key":"k","evaluation":{"metrics":[{"name":0.98}]}})",
        R"({"key":"k","evaluation":{"metrics":[{"name":"BLEU","signature":1}]}})"})
    EXPECT_FALSE(found(damaged).has_value()) << damaged;
}

}  // namespace
}  // namespace tessera::experiment
