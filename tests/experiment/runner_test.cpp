#include "experiment/runner.h"

#include "experiment/made_experiment.h"
#include "support/complaint.h"
#include "support/small_disk.h"
#include "support/wait_until.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <fstream>
#include <thread>

namespace tessera::experiment {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

constexpr const char* kRunnerTable = R"(
seeds = [1, 2]
[model.a]
recipe = "r.toml"
[model.b]
recipe = "r.toml"
overrides = ["process.r=0.5"]
[[cell]]
row = "a"
model = "a"
[[cell]]
row = "b"
model = "b"
)";

class RunnerOfJobs : public test::MadeExperiment {
 protected:
  RunnerOfJobs() { read(kRunnerTable); }

  static std::vector<JobStatus> statuses(const std::vector<JobState>& states) {
    std::vector<JobStatus> all;
    for (const JobState& state : states) all.push_back(state.status);
    return all;
  }
};

const std::vector<JobStatus> kAllDone(8, JobStatus::done);

TEST_F(RunnerOfJobs, RunsEverythingOnce) {
  const auto states = run();
  EXPECT_EQ(statuses(states), kAllDone);
  ASSERT_EQ(calls().size(), 8u);
  EXPECT_THAT(calls()[0], StartsWith("train "));
  EXPECT_THAT(calls()[1], StartsWith("evaluate "));
  EXPECT_EQ(states[1].result["evaluation"]["nfe"], 20);
  EXPECT_THAT(states[1].result["command"].get<std::string>(), StartsWith("tessera evaluate "));
  EXPECT_GE(changes_, 16) << "each is seen to begin and to end";

  EXPECT_EQ(statuses(run()), kAllDone);
  EXPECT_EQ(calls().size(), 8u) << "nothing is missing any more";
}

TEST_F(RunnerOfJobs, DealsJobsOutToDevices) {
  devices_ = {"one", "two"};
  EXPECT_EQ(statuses(run(2)), kAllDone);
  const auto with = [&](const std::string& device) {
    const auto all = calls();
    return std::count_if(all.begin(), all.end(), [&](const std::string& call) {
      return call.find("--device " + device + " ") != std::string::npos;
    });
  };
  EXPECT_GT(with("one"), 0);
  EXPECT_GT(with("two"), 0);
  EXPECT_EQ(with("one") + with("two"), 8);
}

TEST_F(RunnerOfJobs, RunsWhatAChangedFileNeeds) {
  run();
  std::string text = kRunnerTable;
  read(text.replace(text.find("row = \"b\""), 9, "row = \"b\"\nevaluate = [\"--steps\", 5]"));
  EXPECT_EQ(statuses(run()), kAllDone);
  ASSERT_EQ(calls().size(), 10u);
  EXPECT_THAT(calls()[8], AllOf(StartsWith("evaluate "), HasSubstr("--steps 5")));
  read(kRunnerTable);  // the old results are still there
  EXPECT_EQ(statuses(run()), kAllDone);
  EXPECT_EQ(calls().size(), 10u);
}

TEST_F(RunnerOfJobs, GoesOnWithATrainingThatWasBegun) {
  std::filesystem::create_directories(plan_.jobs[0].folder);
  write_file_atomically(plan_.jobs[0].folder / "config.toml", "");
  EXPECT_EQ(statuses(run()), kAllDone);
  EXPECT_EQ(calls()[0], "train --resume " + plan_.jobs[0].folder.string());
}

TEST_F(RunnerOfJobs, MakesAgainWhatWasRemovedOrDamaged) {
  run();
  write_file_atomically(store_.result(plan_.jobs[1].name), "{\"ke");
  std::filesystem::remove(store_.hypotheses(plan_.jobs[3].name));
  EXPECT_THAT(tessera::test::said([&] { EXPECT_EQ(statuses(run()), kAllDone); }),
              HasSubstr("is damaged: it will be made again"));
  EXPECT_EQ(calls().size(), 10u);
}

TEST_F(RunnerOfJobs, WritesThroughNoLinks) {
  namespace fs = std::filesystem;
  store_.make_folders();
  std::ofstream(folder_ / "precious") << "data";
  const std::string& name = plan_.jobs[1].name;  // an evaluation
  for (const fs::path& file :
       {store_.log(name), store_.output(name), store_.hypotheses(name), store_.result(name)}) {
    fs::remove(file);
    fs::create_symlink(folder_ / "precious", file);
    const auto states = run();
    EXPECT_EQ(states[1].status, JobStatus::failed) << file;
    EXPECT_THAT(states[1].message, AllOf(HasSubstr(file.filename()), HasSubstr("symbolic link")));
    EXPECT_EQ(read_file(folder_ / "precious"), "data") << file;
    fs::remove(file);
  }
  EXPECT_EQ(statuses(run()), kAllDone);
}

TEST_F(RunnerOfJobs, RemovesNoCheckpointsThatCannotBeReadNow) {
  namespace fs = std::filesystem;
  run();
  const fs::path checkpoints = plan_.jobs[0].folder / "checkpoints";
  fs::rename(checkpoints, folder_ / "aside");
  fs::create_symlink("checkpoints", checkpoints);  // a link to itself: too many levels
  EXPECT_THAT(tessera::test::complaint([&] { run(); }), HasSubstr("checkpoints"));
  EXPECT_TRUE(fs::is_symlink(checkpoints)) << "it may be back at any moment";
}

TEST_F(RunnerOfJobs, KeepsResultsOfRunsWhoseWeightsWereRemoved) {
  const auto remove_weights = [&](const std::string& what) {
    for (const Job& job : plan_.jobs)
      if (job.kind == JobKind::training) remove_tree(job.folder / what);
  };
  run();
  for (const std::string what : {"checkpoints/step-1/model.safetensors", "checkpoints"}) {
    remove_weights(what);
    EXPECT_EQ(statuses(run()), kAllDone);
    EXPECT_EQ(calls().size(), 8u);
  }
  // Another evaluation needs the weights. They are made again, but only for the runs it evaluates.
  size_t before = 8;
  for (const std::string what : {"checkpoints", "checkpoints/step-1/model.safetensors"}) {
    remove_weights(what);
    std::string text = kRunnerTable;
    read(text.replace(text.find("row = \"b\""), 9,
                      fmt::format("row = \"b\"\nevaluate = [\"--steps\", {}]", before)));
    EXPECT_EQ(statuses(run()), kAllDone);
    ASSERT_EQ(calls().size(), before + 4);
    for (const size_t k : {before, before + 2})
      EXPECT_THAT(calls()[k], StartsWith("train --resume "));
    before += 4;
  }
}

TEST_F(RunnerOfJobs, DoesNotTakeARunForDoneThatWasStoppedWhenTrainedOnceMore) {
  run();
  for (const Job& job : plan_.jobs)
    if (job.kind == JobKind::training) remove_tree(job.folder / "checkpoints");
  std::string text = kRunnerTable;
  read(text.replace(text.find("row = \"b\""), 9, "row = \"b\"\nevaluate = [\"--steps\", 5]"));
  // This training saves a checkpoint before it fails.
  test::write_program(folder_ / "program", R"(
if [ "$1" = train ]; then
  mkdir -p "$3/checkpoints/step-0" && touch "$3/checkpoints/step-0/config.json"
  touch "$3/checkpoints/step-0/model.safetensors"
  exit 1
fi)");
  tessera::test::said([&] { run(); });
  test::write_program(folder_ / "program");
  const size_t before = calls().size();
  EXPECT_EQ(statuses(run()), kAllDone);
  ASSERT_EQ(calls().size(), before + 4);
  EXPECT_THAT(calls()[before], StartsWith("train --resume "));
}

TEST_F(RunnerOfJobs, LetsOthersGoOnWhereOneFails) {
  test::write_program(
      folder_ / "program",
      "case \"$*\" in *process.r=0.5*) echo starting >&2; echo 'error: no luck' >&2; "
      "exit 1;; esac");
  std::vector<JobState> states;
  tessera::test::said([&] { states = run(); });
  const auto failed = JobStatus::failed, done = JobStatus::done;
  EXPECT_THAT(statuses(states),
              ElementsAre(done, done, done, done, failed, failed, failed, failed));
  EXPECT_EQ(states[4].message, "exit code 1\nstarting\nerror: no luck");
  EXPECT_EQ(states[5].message, "it needs 'train b, seed 1', which failed");

  test::write_program(folder_ / "program");
  EXPECT_EQ(statuses(run()), kAllDone) << "the next time they are tried again";
}

TEST_F(RunnerOfJobs, TakesNoAnswerThatIsNotJson) {
  test::write_program(folder_ / "program",
                      "[ \"$1\" = evaluate ] && { echo 'BLEU = 3'; touch \"$out\"; exit 0; }");
  std::vector<JobState> states;
  tessera::test::said([&] { states = run(); });
  EXPECT_EQ(states[1].status, JobStatus::failed);
  EXPECT_THAT(states[1].message, HasSubstr("is not JSON"));
}

TEST_F(RunnerOfJobs, RunsOnlyWhatIsAskedFor) {
  const auto states = run(1, {"b"});
  const auto done = JobStatus::done, not_run = JobStatus::not_run;
  EXPECT_THAT(statuses(states),
              ElementsAre(not_run, not_run, not_run, not_run, done, done, done, done));
}

TEST_F(RunnerOfJobs, RunsSeveralAtOnce) {
  // Each training waits until another one is running, too.
  test::write_program(folder_ / "program", R"(
if [ "$1" = train ]; then
  touch "$here/at-work-$$"
  for k in $(seq 500); do
    [ $(ls "$here" | grep -c at-work) -ge 2 ] && break
    sleep 0.01
  done
  [ $k -lt 500 ] || exit 9
fi)");
  EXPECT_EQ(statuses(run(2)), kAllDone);
}

TEST_F(RunnerOfJobs, DistillsBetweenTeacherAndStudent) {
  corpus::make_date_corpus(folder_ / "corpus", 1, 100);
  write_file_atomically(folder_ / "r.toml", "");
  data_["raw"] = folder_ / "corpus";
  read(R"(
[data]
raw = ""
[distilled.kd]
teacher = "teacher"
of = "raw"
[model.teacher]
recipe = "r.toml"
data = "raw"
[model.student]
recipe = "r.toml"
data = "kd"
[[cell]]
row = "student"
model = "student"
)");
  EXPECT_EQ(statuses(run(4)), std::vector(4, JobStatus::done));
  ASSERT_EQ(calls().size(), 4u);
  EXPECT_THAT(calls()[0], AllOf(StartsWith("train "), HasSubstr((folder_ / "corpus").string())));
  EXPECT_THAT(calls()[1], AllOf(StartsWith("distill "), HasSubstr("--beam 5")));
  EXPECT_THAT(calls()[2], AllOf(StartsWith("train "), HasSubstr("out/data/kd-")));
  EXPECT_THAT(calls()[3], StartsWith("evaluate "));
  EXPECT_EQ(statuses(run(4)), std::vector(4, JobStatus::done));
  EXPECT_EQ(calls().size(), 4u);
}

TEST_F(RunnerOfJobs, StopsItsProcessesAndSaysSo) {
  test::write_program(folder_ / "program", R"(
if [ "$1" = train ]; then
  trap 'touch "$here/saved"; exit 143' TERM
  touch "$here/ready"
  while :; do sleep 0.01; done
fi)");
  std::thread stopper([&] {
    tessera::test::wait_until([&] { return std::filesystem::exists(folder_ / "ready"); });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    stop_.request_stop();
  });
  EXPECT_THROW(run(), Stopped);
  stopper.join();
  EXPECT_TRUE(std::filesystem::exists(folder_ / "saved"));
  EXPECT_EQ(calls().size(), 1u);

  stop_ = std::stop_source();
  test::write_program(folder_ / "program");
  EXPECT_EQ(statuses(run()), kAllDone);
}

TEST_F(RunnerOfJobs, KeepsWhatIsFinishedWhenTheDiskIsFull) {
  run(1, {"a"});
  std::vector<JobState> states;
  tessera::test::said([&] {
    const tessera::test::SmallDisk full(0);
    states = run();
  });
  EXPECT_EQ(states[1].status, JobStatus::done);
  EXPECT_EQ(states[4].status, JobStatus::failed);
  EXPECT_EQ(statuses(run()), kAllDone);
}

TEST_F(RunnerOfJobs, IsAloneInItsFolder) {
  store_.make_folders();
  const FolderLock lock = lock_store(store_, {});
  EXPECT_THAT(tessera::test::complaint([&] { lock_store(store_, {}); }),
              AllOf(HasSubstr("another experiment"), HasSubstr("--out")));
}

TEST_F(RunnerOfJobs, WaitsForTheProcessesOfAKilledExperiment) {
  store_.make_folders();
  const pid_t killed = ::fork();
  if (killed == 0) {
    const FolderLock lock(store_.folder() / "lock", "experiment", "");
    if (::fork() == 0) {  // its child holds the lock while it saves
      ::usleep(400'000);
      std::ofstream(folder_ / "saved") << "";
      ::_exit(0);
    }
    ::_exit(0);
  }
  siginfo_t ended;
  ASSERT_EQ(::waitid(P_PID, killed, &ended, WEXITED | WNOWAIT), 0);  // it stays a zombie
  EXPECT_THAT(tessera::test::said([&] { lock_store(store_, {}); }),
              HasSubstr("waiting for its processes to save"));
  EXPECT_TRUE(std::filesystem::exists(folder_ / "saved"));
  ::waitpid(killed, nullptr, 0);
}

}  // namespace
}  // namespace tessera::experiment
