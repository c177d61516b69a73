// kill -9 at any moment while checkpoints are written loses none that was saved before.

#include "files/files.h"
#include "support/complaint.h"
#include "support/temporary_folder.h"
#include "train/checkpoints.h"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <random>

namespace tessera::train {
namespace {

namespace fs = std::filesystem;

constexpr RetentionOptions kRetention{.keep_last = 2, .keep_best = 1};

void put_text(const fs::path& path, const std::string& text) {
  std::ofstream(path) << text;
}

Checkpoints::Fill large_content(const std::string& text) {
  return [text](const fs::path& folder) {
    put_text(folder / "model", text);
    put_text(folder / "state", std::string(20'000, 'x') + text);
  };
}

// Goes on with the run and saves each checkpoint twice, the second time with other contents. Writes
// the step of each that is safe to the pipe `tell`.
[[noreturn]] void train(const fs::path& run, int tell) {
  try {
    Checkpoints checkpoints(run, kRetention);
    const auto newest = checkpoints.newest();
    for (int64_t step = newest ? newest->step + 1 : 1;; ++step) {
      checkpoints.save(step, large_content("first"), double(step % 5));
      if (write(tell, &step, sizeof step) != sizeof step) break;
      checkpoints.save(step, large_content("second"));
      checkpoints.record_score(step, double(step % 7));
    }
  } catch (const std::exception& error) {
    fprintf(stderr, "%s\n", error.what());
  }
  _exit(1);
}

int64_t last_told(int pipe) {
  int64_t step = 0, last = 0;
  while (read(pipe, &step, sizeof step) == sizeof step) last = step;
  return last;
}

// Lets a process train for a while and kills it. Returns the last step it told.
int64_t train_and_kill(const fs::path& run, int microseconds) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  const pid_t child = fork();
  if (child == 0) train(run, ends[1]);
  close(ends[1]);
  usleep(static_cast<useconds_t>(microseconds));
  kill(child, SIGKILL);
  int status = 0;
  waitpid(child, &status, 0);
  EXPECT_TRUE(WIFSIGNALED(status)) << "the child failed by itself";
  const int64_t told = last_told(ends[0]);
  close(ends[0]);
  return told;
}

TEST(Checkpoints, SurviveBeingKilledAtAnyMoment) {
  const test::TemporaryFolder run(test::quick_place());
  const unsigned seed = std::random_device()();
  std::mt19937 random(seed);
  std::uniform_int_distribution<int> delay(0, 40'000);
  int64_t safe = 0;
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE("seed " + std::to_string(seed) + ", round " + std::to_string(round));
    safe = std::max(safe, train_and_kill(run.path(), delay(random)));

    // A reader sees only whole checkpoints. At most, one that was being replaced is missing.
    const std::string talk = test::said([&] {
      const auto seen = Checkpoints(run.path()).newest();
      EXPECT_GE(seen ? seen->step : 0, safe - 1);
      const auto newest = Checkpoints(run.path(), kRetention).newest();
      EXPECT_GE(newest ? newest->step : 0, safe);
    });
    EXPECT_EQ(talk, "") << "nothing is ever damaged";
    EXPECT_TRUE(safe == 0 || fs::exists(run / "last/model"));
    // The only checkpoint with a score may have been replaced by one that has none yet.
    const auto there = Checkpoints(run.path()).all();
    const bool scored = std::any_of(there.begin(), there.end(),
                                    [](const Checkpoint& each) { return each.score.has_value(); });
    EXPECT_EQ(fs::exists(run / "best/model"), scored);
    for (const auto& entry : fs::directory_iterator(run / "checkpoints"))
      EXPECT_TRUE(entry.path().filename().string().starts_with("step-")) << entry.path();
  }
  EXPECT_GT(safe, 0) << "no checkpoint was ever saved: the test shows nothing";
}

}  // namespace
}  // namespace tessera::train
