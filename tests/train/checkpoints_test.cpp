#include "train/checkpoints.h"

#include "files/files.h"
#include "support/complaint.h"
#include "support/plain_user.h"
#include "support/small_disk.h"
#include "support/temporary_folder.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <set>

namespace tessera::train {
namespace {

namespace fs = std::filesystem;
using test::complaint;
using test::quick_place;
using test::said;
using test::SmallDisk;
using test::TemporaryFolder;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr RetentionOptions kKeepAll{.keep_last = 100, .keep_best = 100};

void put(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

Checkpoints::Fill content(const std::string& text) {
  return [text](const fs::path& folder) {
    put(folder / "model", text);
    put(folder / "state", "state of " + text);
  };
}

std::string content_of(const Checkpoint& checkpoint) {
  return read_file(checkpoint.folder / "model");
}

std::vector<int64_t> steps(const Checkpoints& checkpoints) {
  std::vector<int64_t> found;
  for (const Checkpoint& each : checkpoints.all()) found.push_back(each.step);
  return found;
}

std::set<std::string> names_in(const fs::path& folder) {
  std::set<std::string> names;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    names.insert(entry.path().filename().string());
  return names;
}

// A run with complete checkpoints at steps 1, 2 and 3.
struct SampleRun {
  TemporaryFolder folder{quick_place()};
  Checkpoints checkpoints{folder.path(), kKeepAll};
  SampleRun() {
    for (const int64_t step : {1, 2, 3}) checkpoints.save(step, content(std::to_string(step)));
  }
  fs::path of(int64_t step) const {
    return folder.path() / fmt::format("checkpoints/step-{:08}", step);
  }
  fs::path link(const char* name) const { return fs::read_symlink(folder.path() / name); }
};

TEST(Checkpoints, AreSavedUnderTheirStep) {
  const TemporaryFolder run(quick_place());
  Checkpoints checkpoints(run.path(), {});
  EXPECT_FALSE(checkpoints.newest());
  const Checkpoint saved = checkpoints.save(1000, content("a"), 31.5);
  EXPECT_EQ(saved.folder, run.path() / "checkpoints/step-00001000");
  EXPECT_EQ(names_in(saved.folder), (std::set<std::string>{"manifest.json", "model", "state"}));
  EXPECT_EQ(names_in(run.path()), (std::set<std::string>{"checkpoints", "last", "best"}));
  const auto newest = checkpoints.newest();
  ASSERT_TRUE(newest);
  EXPECT_EQ(newest->step, 1000);
  EXPECT_EQ(newest->score, 31.5);
  EXPECT_EQ(newest->folder, saved.folder);
}

TEST(Checkpoints, LinksAreRelativeAndFollow) {
  const TemporaryFolder folder(quick_place());
  fs::create_directory(folder / "run");
  Checkpoints checkpoints(folder / "run", {});
  checkpoints.save(1, content("a"), 2.0);
  checkpoints.save(2, content("b"), 1.0);
  fs::rename(folder / "run", folder / "moved");
  EXPECT_EQ(read_file(folder.path() / "moved/last/model"), "b");
  EXPECT_EQ(read_file(folder.path() / "moved/best/model"), "a");
}

TEST(Checkpoints, ReadingChangesNothing) {
  const TemporaryFolder run(quick_place());
  const Checkpoints checkpoints(run.path());
  EXPECT_FALSE(checkpoints.newest());
  EXPECT_TRUE(checkpoints.all().empty());
  EXPECT_TRUE(names_in(run.path()).empty());
}

TEST(Checkpoints, NewestIsByNumberNotByName) {
  const TemporaryFolder run(quick_place());
  Checkpoints checkpoints(run.path(), kKeepAll);
  checkpoints.save(123456789, content("late"));
  checkpoints.save(99999999, content("early"));
  EXPECT_EQ(checkpoints.newest()->step, 123456789);
}

// ---- damage

TEST(Checkpoints, FoldersWithoutManifestArePassedOver) {
  const SampleRun run;
  fs::remove(run.of(3) / "manifest.json");
  fs::create_directory(run.of(9));
  write_file_atomically(run.of(9) / "model", "half");
  EXPECT_EQ(steps(run.checkpoints), (std::vector<int64_t>{1, 2}));
  EXPECT_THAT(said([&] { EXPECT_EQ(run.checkpoints.newest()->step, 2); }),
              AllOf(HasSubstr("step-00000009"), HasSubstr("step-00000003")));
}

TEST(Checkpoints, DamagedOnesArePassedOverWithAWarning) {
  const SampleRun run;
  fs::resize_file(run.of(3) / "state", 4);
  write_file_atomically(run.of(2) / "model", "3");  // as long, but another byte
  const std::string text = said([&] { EXPECT_EQ(run.checkpoints.newest()->step, 1); });
  EXPECT_THAT(text, HasSubstr("checkpoint 3 is passed over"));
  EXPECT_THAT(text, HasSubstr("'state' has 4 bytes"));
  EXPECT_THAT(text, HasSubstr("checkpoint 2 is passed over"));
  EXPECT_THAT(text, HasSubstr("'model' has changed"));
  fs::remove(run.of(1) / "model");
  said([&] { EXPECT_FALSE(run.checkpoints.newest()); });
}

TEST(Checkpoints, ARenamedFolderIsNotAnotherStep) {
  const SampleRun run;
  fs::rename(run.of(3), run.of(4));
  EXPECT_THAT(said([&] { EXPECT_EQ(run.checkpoints.newest()->step, 2); }),
              HasSubstr("holds the checkpoint of step 3"));
}

TEST(Checkpoints, OfANewerFormatAreRefused) {
  const SampleRun run;
  write_file_atomically(run.of(3) / "manifest.json", R"({"format": 99})");
  EXPECT_THAT(complaint([&] { run.checkpoints.newest(); }),
              AllOf(HasSubstr("format 99"), HasSubstr("newer tessera")));
  EXPECT_THAT(complaint([&] { run.checkpoints.resolve("3"); }), HasSubstr("format 99"));
  EXPECT_EQ(run.checkpoints.resolve("2").step, 2);
}

TEST(Checkpoints, ASaveOntoANewerFormatIsRefused) {
  SampleRun run;
  write_file_atomically(run.of(3) / "manifest.json", R"({"format": 99})");
  EXPECT_THAT(complaint([&] { run.checkpoints.save(3, content("x")); }), HasSubstr("format 99"));
  EXPECT_EQ(read_file(run.of(3) / "model"), "3");
}

TEST(Checkpoints, LinksThatPointNowhereDoNotMatterAndAreSetRight) {
  SampleRun run;
  run.checkpoints.record_score(2, 1.0);
  replace_symlink(run.folder / "last", "checkpoints/step-00000077");
  replace_symlink(run.folder / "best", "checkpoints/step-00000077");
  EXPECT_EQ(run.checkpoints.resolve("last").step, 3);
  EXPECT_EQ(run.checkpoints.resolve("best").step, 2);
  const Checkpoints again(run.folder.path(), kKeepAll);
  EXPECT_EQ(run.link("last"), "checkpoints/step-00000003");
  EXPECT_EQ(run.link("best"), "checkpoints/step-00000002");
}

TEST(Checkpoints, ARunThatWasCopiedWithItsLinksAsFoldersGoesOn) {
  SampleRun run;
  fs::remove(run.folder / "last");
  fs::copy(run.of(3), run.folder / "last");
  EXPECT_THAT(said([&] { run.checkpoints.save(4, content("4")); }),
              HasSubstr("not a symbolic link"));
  EXPECT_EQ(run.checkpoints.newest()->step, 4);
}

// ---- names

TEST(Checkpoints, ResolveNames) {
  SampleRun run;
  run.checkpoints.record_score(1, 5.0);
  EXPECT_EQ(run.checkpoints.resolve("last").step, 3);
  EXPECT_EQ(run.checkpoints.resolve("best").step, 1);
  EXPECT_EQ(run.checkpoints.resolve("2").step, 2);
  EXPECT_EQ(run.checkpoints.resolve("step-00000002").step, 2);
}

TEST(Checkpoints, ResolveListsWhatThereIs) {
  SampleRun run;
  EXPECT_THAT(complaint([&] { run.checkpoints.resolve("best"); }),
              AllOf(HasSubstr("no checkpoint with a score"), HasSubstr("there are: 1, 2, 3")));
  run.checkpoints.record_score(2, 31.456);
  EXPECT_THAT(complaint([&] { run.checkpoints.resolve("17"); }),
              AllOf(HasSubstr("no checkpoint of step 17"), HasSubstr("1, 2 (score 31.46), 3")));
  for (const char* name : {"", "bset", "-1", "1x", "step-"})
    EXPECT_THROW(run.checkpoints.resolve(name), UsageError) << name;
  fs::resize_file(run.of(2) / "model", 0);
  EXPECT_THAT(complaint([&] { run.checkpoints.resolve("best"); }),
              AllOf(HasSubstr("damaged"), HasSubstr("there are")));
  const TemporaryFolder empty(quick_place());
  EXPECT_THAT(complaint([&] { Checkpoints(empty.path()).resolve("last"); }),
              HasSubstr("no checkpoint yet"));
}

// ---- which ones stay

TEST(Checkpoints, TheLastAndTheBestStay) {
  const TemporaryFolder run(quick_place());
  Checkpoints checkpoints(run.path(), {.keep_last = 2, .keep_best = 2});
  const std::vector<double> scores{5, 9, 1, 8, 2, 3, 4};
  for (size_t i = 0; i < scores.size(); ++i) checkpoints.save(int64_t(i), content("x"), scores[i]);
  EXPECT_THAT(steps(checkpoints), ElementsAre(1, 3, 5, 6));
  EXPECT_EQ(names_in(run / "checkpoints").size(), 4u);
  EXPECT_EQ(checkpoints.resolve("best").step, 1);
}

TEST(Checkpoints, WithoutScoresTheLastStay) {
  const TemporaryFolder run(quick_place());
  Checkpoints checkpoints(run.path(), {});
  for (int64_t step = 0; step < 6; ++step) checkpoints.save(step, content("x"));
  EXPECT_THAT(steps(checkpoints), ElementsAre(3, 4, 5));
  EXPECT_FALSE(fs::is_symlink(run / "best"));
}

TEST(Checkpoints, TheLaterOfEqualScoresIsBest) {
  const TemporaryFolder run(quick_place());
  Checkpoints checkpoints(run.path(), {.keep_last = 1, .keep_best = 1});
  for (int64_t step = 0; step < 4; ++step) checkpoints.save(step, content("x"), 7.0);
  checkpoints.save(4, content("x"), 6.0);
  EXPECT_THAT(steps(checkpoints), ElementsAre(3, 4));
}

TEST(Checkpoints, KeepBestZeroKeepsNoBest) {
  const TemporaryFolder run(quick_place());
  Checkpoints checkpoints(run.path(), {.keep_last = 1, .keep_best = 0});
  checkpoints.save(1, content("x"), 9.0);
  checkpoints.save(2, content("x"), 1.0);
  EXPECT_THAT(steps(checkpoints), ElementsAre(2));
  EXPECT_FALSE(fs::is_symlink(run / "best"));
}

TEST(Checkpoints, AScoreMayComeLater) {
  const TemporaryFolder run(quick_place());
  Checkpoints checkpoints(run.path(), {.keep_last = 1, .keep_best = 1});
  checkpoints.save(1, content("x"));
  checkpoints.record_score(1, 10.0);
  checkpoints.save(2, content("x"));
  EXPECT_THAT(steps(checkpoints), ElementsAre(1, 2));
  checkpoints.record_score(2, 12.0);
  EXPECT_THAT(steps(checkpoints), ElementsAre(2));
  EXPECT_EQ(checkpoints.newest()->score, 12.0);
  EXPECT_THAT(complaint([&] { checkpoints.record_score(5, 1.0); }), HasSubstr("step-00000005"));
}

TEST(Checkpoints, ScoresThatAreNotFiniteAreNone) {
  const TemporaryFolder run(quick_place());
  Checkpoints checkpoints(run.path(), {});
  EXPECT_THAT(said([&] { checkpoints.save(1, content("x"), std::nan("")); }),
              HasSubstr("does not count"));
  said([&] { checkpoints.record_score(1, INFINITY); });
  EXPECT_FALSE(checkpoints.newest()->score);
}

TEST(Checkpoints, WhatWasSavedStaysEvenBesideLaterSteps) {
  SampleRun run;
  Checkpoints checkpoints(run.folder.path(), {.keep_last = 1, .keep_best = 0});
  checkpoints.save(1, content("again"));  // the run went back, the later ones were not discarded
  EXPECT_THAT(steps(checkpoints), ElementsAre(1, 3));
  EXPECT_EQ(run.link("last"), "checkpoints/step-00000001");
}

TEST(Checkpoints, DiscardAfterForgetsTheFuture) {
  SampleRun run;
  fs::remove(run.of(3) / "manifest.json");
  run.checkpoints.discard_after(1);
  EXPECT_EQ(names_in(run.folder / "checkpoints"), (std::set<std::string>{"step-00000001"}));
  EXPECT_EQ(run.link("last"), "checkpoints/step-00000001");
}

// ---- the same step again

TEST(Checkpoints, AnEqualOneIsKept) {
  SampleRun run;
  const auto written = fs::last_write_time(run.of(3) / "model");
  run.checkpoints.save(3, content("3"));
  EXPECT_EQ(fs::last_write_time(run.of(3) / "model"), written);
  EXPECT_EQ(run.checkpoints.save(3, content("3"), 2.5).score, 2.5);
  EXPECT_EQ(run.checkpoints.save(3, content("3")).score, 2.5);
  EXPECT_EQ(run.checkpoints.resolve("best").step, 3);
  EXPECT_EQ(names_in(run.folder / "checkpoints").size(), 3u);
}

TEST(Checkpoints, ADifferentOneIsReplaced) {
  SampleRun run;
  run.checkpoints.record_score(3, 1.0);
  run.checkpoints.save(3, content("other"));
  EXPECT_EQ(content_of(*run.checkpoints.newest()), "other");
  EXPECT_FALSE(run.checkpoints.newest()->score) << "the score was that of other weights";
  EXPECT_EQ(names_in(run.folder / "checkpoints").size(), 3u);
}

TEST(Checkpoints, ADamagedOneIsReplaced) {
  SampleRun run;
  fs::resize_file(run.of(3) / "model", 0);
  run.checkpoints.save(3, content("3"));
  EXPECT_EQ(content_of(*run.checkpoints.newest()), "3");
  fs::remove(run.of(3) / "manifest.json");
  run.checkpoints.save(3, content("3"));
  EXPECT_EQ(content_of(*run.checkpoints.newest()), "3");
}

// ---- what is there and cannot be read now

// Makes a path unreadable for a while, like a network disk that comes and goes.
class Unreadable {
 public:
  explicit Unreadable(const fs::path& path) : path_(path), before_(fs::status(path).permissions()) {
    fs::permissions(path, fs::perms(0));
  }
  ~Unreadable() { fs::permissions(path_, before_); }
  Unreadable(const Unreadable&) = delete;
  Unreadable& operator=(const Unreadable&) = delete;

 private:
  fs::path path_;
  fs::perms before_;
};

TEST(Checkpoints, OneThatCannotBeReadNowIsNotPassedOver) {
  SampleRun run;
  fs::permissions(run.folder.path(), fs::perms(0755));
  for (const fs::path& closed :
       {run.of(3) / "model", run.of(3) / "manifest.json", run.of(3), run.folder / "checkpoints"}) {
    const Unreadable moment(closed);
    const test::PlainUser user;
    EXPECT_THAT(complaint([&] { Checkpoints(run.folder.path()).newest(); }),
                HasSubstr("Permission denied"))
        << closed;
    EXPECT_THAT(complaint([&] { Checkpoints(run.folder.path()).resolve("3"); }),
                HasSubstr("Permission denied"))
        << closed;
  }
  EXPECT_EQ(run.checkpoints.newest()->step, 3);
  {
    const Unreadable moment(run.of(3) / "model");
    const test::PlainUser user;
    EXPECT_THAT(complaint([&] { run.checkpoints.newest(); }),
                AllOf(HasSubstr("| wait until it can be read"), HasSubstr(run.of(3).string())));
  }
}

TEST(Checkpoints, OneThatCannotBeReadNowIsNotReplaced) {
  SampleRun run;
  fs::permissions(run.folder.path(), fs::perms(0755));
  fs::permissions(run.folder / "checkpoints", fs::perms(0777));
  for (const char* file : {"model", "manifest.json"}) {
    const Unreadable moment(run.of(3) / file);
    const test::PlainUser user;
    EXPECT_THAT(complaint([&] { run.checkpoints.save(3, content("3")); }),
                HasSubstr("Permission denied"));
  }
  EXPECT_EQ(content_of(*run.checkpoints.newest()), "3");
  EXPECT_EQ(names_in(run.folder / "checkpoints").size(), 3u);
}

// ---- what killed processes and full disks leave

TEST(Checkpoints, FinishesWhatAKilledProcessBegan) {
  SampleRun run;
  const fs::path parent = run.folder / "checkpoints";
  fs::rename(run.of(1), parent / ".removing-step-00000001");
  fs::rename(run.of(3), parent / ".tessera-old-step-00000003");
  fs::copy(run.of(2), parent / ".tessera-old-step-00000002");
  write_file_atomically(run.of(2) / ".tessera-tmp-1-1", "half a manifest");
  fs::create_directory(parent / ".tessera-tmp-1-2");
  write_file_atomically(parent / ".tessera-tmp-1-2/model", "half");
  const Checkpoints again(run.folder.path(), kKeepAll);
  EXPECT_THAT(steps(again), ElementsAre(2, 3));
  EXPECT_EQ(names_in(parent), (std::set<std::string>{"step-00000002", "step-00000003"}));
  EXPECT_EQ(names_in(run.of(2)), (std::set<std::string>{"manifest.json", "model", "state"}));
  EXPECT_EQ(run.link("last"), "checkpoints/step-00000003");
}

TEST(Checkpoints, AFullDiskLeavesTheOldOnesAndNothingElse) {
  SampleRun run;
  const std::string message = complaint([&] {
    const SmallDisk disk(4096);
    run.checkpoints.save(4, [](const fs::path& folder) {
      write_file_atomically(folder / "model", std::string(10'000, 'x'));
    });
  });
  EXPECT_THAT(message, HasSubstr("cannot write"));
  EXPECT_EQ(names_in(run.folder / "checkpoints").size(), 3u);
  EXPECT_EQ(run.checkpoints.newest()->step, 3);
  EXPECT_EQ(run.link("last"), "checkpoints/step-00000003");
}

TEST(Checkpoints, AFailureWhileWritingLeavesNothing) {
  SampleRun run;
  EXPECT_THROW(run.checkpoints.save(3,
                                    [](const fs::path& folder) {
                                      write_file_atomically(folder / "model", "half");
                                      throw std::runtime_error("out of memory");
                                    }),
               std::runtime_error);
  EXPECT_EQ(content_of(*run.checkpoints.newest()), "3");
  EXPECT_EQ(names_in(run.folder / "checkpoints").size(), 3u);
}

// The manifest claims more bytes than any disk has, so the next one cannot fit.
void make_huge(const fs::path& folder, int64_t step) {
  write_file_atomically(
      folder / "manifest.json",
      fmt::format(R"({{"format":1,"step":{},"files":{{"x":{{"size":{},"hash":""}}}}}})", step,
                  uint64_t{1} << 62));
}

TEST(Checkpoints, AsksForRoomBeforeWriting) {
  SampleRun run;
  make_huge(run.of(3), 3);
  bool filled = false;
  EXPECT_THAT(complaint([&] {
                said([&] { run.checkpoints.save(4, [&](const fs::path&) { filled = true; }); });
              }),
              AllOf(HasSubstr("no room for a checkpoint"),
                    HasSubstr("it takes 4398046511104 MiB and the log 1 MiB"),
                    HasSubstr("train.keep_last")));
  EXPECT_FALSE(filled);
  EXPECT_THAT(steps(run.checkpoints), ElementsAre(1, 2, 3))
      << "a damaged one is no reason to prune";
}

TEST(Checkpoints, RefuseNonsense) {
  const TemporaryFolder run(quick_place());
  EXPECT_THROW(Checkpoints(run.path(), {.keep_last = 0}), UsageError);
  EXPECT_THROW(Checkpoints(run.path(), {.keep_best = -1}), UsageError);
  Checkpoints checkpoints(run.path(), {});
  EXPECT_THROW(checkpoints.save(-1, content("x")), Error);
}

}  // namespace
}  // namespace tessera::train
