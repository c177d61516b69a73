#include "task/stored_recipe.h"

#include "config/option_text.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sstream>
#include <vector>

namespace tessera::task {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::TemporaryFolder;
using testing::AllOf;
using testing::HasSubstr;

// The keys of a domain that are paths.
std::vector<std::string> path_keys(const config::Schema& schema) {
  std::vector<std::string> keys;
  std::istringstream table(schema.markdown());
  for (std::string row; std::getline(table, row);)
    if (const size_t end = row.find("` | path |"); end != std::string::npos)
      keys.push_back(row.substr(row.find('`') + 1, end - row.find('`') - 1));
  return keys;
}

TEST(StoredRecipe, HasFullPathsForEveryKeyThatIsOne) {
  for (const Domain domain : {Domain::text, Domain::images}) {
    Recipe recipe(domain);
    config::Schema schema;
    declare(schema, recipe);
    const auto keys = path_keys(schema);
    ASSERT_GE(keys.size(), 3u);
    for (const std::string& key : keys) schema.set(key, std::string("some/where"), "test");
    schema.finish();

    Recipe stored(domain);
    config::Schema read;
    declare(read, stored);
    read.read_text(stored_text(recipe, "runs/a"), "stored");
    read.finish();
    for (const std::string& key : keys)
      EXPECT_EQ(config::text_of(read.values().at(key)),
                (fs::current_path() / (key == "train.out" ? "runs/a" : "some/where")).string())
          << key;
  }
}

TEST(StoredRecipe, LeavesPathsThatWereNotGivenEmpty) {
  Recipe recipe;
  recipe.text.data.dir = "/data/corpus";
  const std::string text = stored_text(recipe, "/runs/a");
  EXPECT_THAT(text, AllOf(HasSubstr("dir = \"/data/corpus\""), HasSubstr("out = \"/runs/a\""),
                          HasSubstr("init = \"\"")));
}

TEST(StoredRecipe, SaysHowToNameDataThatIsElsewhereNow) {
  const TemporaryFolder folder;
  for (const Domain domain : {Domain::text, Domain::images}) {
    Recipe recipe(domain);
    (domain == Domain::text ? recipe.text.data.dir : recipe.image.data.dir) = folder.path();
    EXPECT_EQ(data_folder(recipe, "run"), folder.path());
    (domain == Domain::text ? recipe.text.data.dir : recipe.image.data.dir) = "gone";
    EXPECT_THAT(complaint([&] { data_folder(recipe, "run"); }),
                AllOf(HasSubstr("the data of the run 'run' is not in 'gone'"),
                      HasSubstr("a path from where the run was begun"), HasSubstr("--data DIR"),
                      HasSubstr("data.dir=DIR")));
  }
}

}  // namespace
}  // namespace tessera::task
