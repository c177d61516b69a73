#include "files/block_folder.h"

#include "support/temporary_folder.h"

#include <tessera/base/error.h>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

namespace tessera {
namespace {

using ::testing::HasSubstr;

const nlohmann::ordered_json kJob{{"seed", 1}, {"input", "a"}};

std::string joined(const std::filesystem::path& folder) {
  std::string text;
  BlockFolder::join(folder, [&](std::string_view bytes) { text += bytes; });
  return text;
}

template <class Work>
std::string message_of(const Work& work) {
  try {
    work();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Shard, OwnsEveryCountthBlock) {
  const Shard second = Shard::parse("2/3");
  EXPECT_FALSE(second.owns(0));
  EXPECT_TRUE(second.owns(1));
  EXPECT_TRUE(second.owns(4));
  EXPECT_TRUE(Shard::parse("1/1").owns(7));
}

TEST(Shard, RefusesWhatIsNoPlaceAmongProcesses) {
  for (const char* text :
       {"", "1", "0/2", "3/2", "-1/2", "1/0", "1/2/3", "a/b", "1/2 ", "/2", "1/"})
    EXPECT_THROW(Shard::parse(text), UsageError) << text;
}

TEST(BlockFolder, JoinsBlocksInOrder) {
  const test::TemporaryFolder folder;
  const BlockFolder one(folder / "out", kJob, "txt"), other(folder / "out", kJob, "txt");
  other.write(1, "b\n");
  one.write(0, "a\n");
  one.write(2, "");
  EXPECT_TRUE(one.has(1));
  EXPECT_FALSE(one.has(3));
  other.set_count(3);
  EXPECT_EQ(joined(folder / "out"), "a\nb\n");
}

TEST(BlockFolder, SaysWhatIsMissing) {
  const test::TemporaryFolder folder;
  const BlockFolder blocks(folder / "out", kJob, "txt");
  blocks.write(1, "b\n");
  EXPECT_THAT(message_of([&] { joined(folder / "out"); }), HasSubstr("has come to the end"));
  blocks.set_count(6);
  EXPECT_THAT(message_of([&] { joined(folder / "out"); }), HasSubstr("5 of 6 blocks are missing"));
  EXPECT_THAT(message_of([&] { joined(folder / "out"); }), HasSubstr(": 0, 2 to 5"));
  EXPECT_THAT(message_of([&] { joined(folder / "nothing"); }), HasSubstr("holds no blocks"));
}

TEST(BlockFolder, RefusesAnotherJob) {
  const test::TemporaryFolder folder;
  const BlockFolder blocks(folder / "out", kJob, "txt");
  EXPECT_THAT(message_of([&] {
                BlockFolder(folder / "out", {{"seed", 2}, {"input", "a"}}, "txt");
              }),
              HasSubstr("another job: seed is 1, not 2"));
  std::filesystem::create_directory(folder / "full");
  std::ofstream(folder / "full" / "file") << "mine";
  EXPECT_THAT(message_of([&] { BlockFolder(folder / "full", kJob, "txt"); }),
              HasSubstr("is not empty"));
}

TEST(BlockFolder, NamesADamagedFile) {
  const test::TemporaryFolder folder;
  const BlockFolder blocks(folder / "out", kJob, "txt");
  std::ofstream(folder / "out" / "job.json") << "{\"format\": 1}";
  EXPECT_THAT(message_of([&] { BlockFolder(folder / "out", kJob, "txt"); }),
              HasSubstr("is damaged"));
  std::ofstream(folder / "out" / "blocks.json") << "{\"blocks\": -4}";
  EXPECT_THAT(message_of([&] { joined(folder / "out"); }), HasSubstr("is damaged"));
}

}  // namespace
}  // namespace tessera
