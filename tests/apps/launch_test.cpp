#include "launch.h"

#include <tessera/base/error.h>

#include <gtest/gtest.h>

#include <map>
#include <string>

namespace tessera::app {
namespace {

using Values = std::map<std::string, std::string>;

RankOptions read(Launcher launcher, const Values& values) {
  return read_launch(launcher, [&](const char* name) {
    const auto found = values.find(name);
    return found == values.end() ? nullptr : found->second.c_str();
  });
}

TEST(Launch, IsAloneWithoutVariables) {
  EXPECT_EQ(read(Launcher::variables, {}), RankOptions());
  EXPECT_EQ(read(Launcher::variables, {{"RANK", "0"}, {"WORLD_SIZE", "1"}}), RankOptions());
}

TEST(Launch, ReadsWhatTorchrunSets) {
  const RankOptions options = read(Launcher::variables, {{"RANK", "5"},
                                                         {"WORLD_SIZE", "8"},
                                                         {"LOCAL_RANK", "1"},
                                                         {"LOCAL_WORLD_SIZE", "4"},
                                                         {"MASTER_ADDR", "node1"},
                                                         {"MASTER_PORT", "1234"},
                                                         {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                                         {"TORCHELASTIC_RESTART_COUNT", "2"}});
  EXPECT_EQ(options.rank, 5);
  EXPECT_EQ(options.size, 8);
  EXPECT_EQ(options.local_rank, 1);
  EXPECT_EQ(options.local_size, 4);
  EXPECT_EQ(options.address, "node1");
  EXPECT_EQ(options.port, 1234);
  EXPECT_TRUE(options.served);
  EXPECT_EQ(options.attempt, "2");
}

TEST(Launch, NamesTheVariableThatIsMissingOrWrong) {
  const auto message = [](const Values& values) {
    try {
      read(Launcher::variables, values);
    } catch (const UsageError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  EXPECT_EQ(message({{"WORLD_SIZE", "2"}}), "the variable RANK is missing");
  EXPECT_EQ(message({{"WORLD_SIZE", "2"}, {"RANK", "0"}}),
            "the variable MASTER_ADDR is missing: the host of process 0, where all meet");
  EXPECT_EQ(message({{"WORLD_SIZE", "two"}}),
            "the variable WORLD_SIZE must be a whole number from 1 to 1048576, got 'two'");
  EXPECT_EQ(message({{"WORLD_SIZE", "2"}, {"RANK", "2"}, {"MASTER_ADDR", "a"}}),
            "there is no process 2 among 2: they are numbered from 0");
}

TEST(Launch, ReadsWhatSlurmSetsOnlyIfAsked) {
  const Values values{{"SLURM_PROCID", "9"},  {"SLURM_NTASKS", "16"},
                      {"SLURM_LOCALID", "1"}, {"SLURM_NTASKS_PER_NODE", "8"},
                      {"SLURM_JOB_ID", "12"}, {"SLURM_JOB_NODELIST", "gpu[07-08]"}};
  EXPECT_EQ(read(Launcher::variables, values), RankOptions());
  const RankOptions options = read(Launcher::slurm, values);
  EXPECT_EQ(options.rank, 9);
  EXPECT_EQ(options.size, 16);
  EXPECT_EQ(options.local_rank, 1);
  EXPECT_EQ(options.local_size, 8);
  EXPECT_EQ(options.address, "gpu07");
  EXPECT_EQ(options.port, 29512);
}

TEST(Launch, ReadsWhatMpiSets) {
  const RankOptions options = read(Launcher::mpi, {{"OMPI_COMM_WORLD_RANK", "1"},
                                                   {"OMPI_COMM_WORLD_SIZE", "2"},
                                                   {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                                   {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  EXPECT_EQ(options.rank, 1);
  EXPECT_EQ(options.size, 2);
  EXPECT_EQ(options.address, "127.0.0.1");
  EXPECT_THROW(read(Launcher::mpi, {{"PMI_RANK", "0"}, {"PMI_SIZE", "2"}}), UsageError);
}

TEST(Launch, FindsTheFirstHostOfAList) {
  EXPECT_EQ(first_host("one"), "one");
  EXPECT_EQ(first_host("one,two"), "one");
  EXPECT_EQ(first_host("node[03-05,9],login"), "node03");
  EXPECT_EQ(first_host("node[7]"), "node7");
  EXPECT_EQ(first_host("rack[1,3]-x,other"), "rack1-x");
  EXPECT_EQ(first_host("broken["), "");
  EXPECT_EQ(first_host(""), "");
}

}  // namespace
}  // namespace tessera::app
