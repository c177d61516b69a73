#include "launch.h"

#include "base/require.h"

#include <charconv>
#include <initializer_list>
#include <optional>
#include <string_view>

namespace tessera::app {
namespace {

constexpr int kUsualPort = 29500;
constexpr int kMostProcesses = 1 << 20;

// Numbers and words of the environment.
class Variables {
 public:
  explicit Variables(const Environment& environment) : environment_(environment) {}

  // The first of several names that is set; empty: none.
  std::string word(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (const char* value = environment_(name); value != nullptr && *value != 0) return value;
    return "";
  }

  std::optional<int> number(std::initializer_list<const char*> names, int low, int high) const {
    for (const char* name : names) {
      const std::string text = word({name});
      if (text.empty()) continue;
      int value = 0;
      const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), value);
      require_option(failure == std::errc() && end == text.data() + text.size() && value >= low &&
                         value <= high,
                     "the variable {} must be a whole number from {} to {}, got '{}'", name, low,
                     high, text);
      return value;
    }
    return std::nullopt;
  }

  int needed(std::initializer_list<const char*> names, int low, int high) const {
    const std::optional<int> value = number(names, low, high);
    require_option(value.has_value(), "the variable {} is missing", *names.begin());
    return *value;
  }

 private:
  const Environment& environment_;
};

// What all launchers leave to the same two variables.
void read_address(const Variables& variables, RankOptions& options, const std::string& usual,
                  int usual_port) {
  options.address = variables.word({"MASTER_ADDR"});
  if (options.address.empty()) options.address = usual;
  require_option(!options.address.empty(),
                 "the variable MASTER_ADDR is missing: the host of process 0, where all meet");
  options.port = variables.number({"MASTER_PORT"}, 1, 65535).value_or(usual_port);
}

RankOptions of_variables(const Variables& variables) {
  RankOptions options;
  options.size = variables.number({"WORLD_SIZE"}, 1, kMostProcesses).value_or(1);
  if (options.size == 1) return options;
  options.rank = variables.needed({"RANK"}, 0, kMostProcesses);
  options.local_rank = variables.number({"LOCAL_RANK"}, 0, kMostProcesses).value_or(0);
  options.local_size =
      variables.number({"LOCAL_WORLD_SIZE"}, 1, kMostProcesses).value_or(options.local_rank + 1);
  read_address(variables, options, "", kUsualPort);
  options.served = variables.word({"TORCHELASTIC_USE_AGENT_STORE"}) == "True";
  options.attempt = variables.word({"TORCHELASTIC_RESTART_COUNT"});
  return options;
}

RankOptions of_slurm(const Variables& variables) {
  RankOptions options;
  options.size = variables.needed({"SLURM_NTASKS"}, 1, kMostProcesses);
  options.rank = variables.needed({"SLURM_PROCID"}, 0, kMostProcesses);
  options.local_rank = variables.needed({"SLURM_LOCALID"}, 0, kMostProcesses);
  options.local_size = variables.number({"SLURM_NTASKS_PER_NODE"}, 1, kMostProcesses)
                           .value_or(options.local_rank + 1);
  // Jobs on the same machine must not share a port.
  const int job = variables.number({"SLURM_JOB_ID"}, 0, 2147483647).value_or(0);
  read_address(variables, options, first_host(variables.word({"SLURM_JOB_NODELIST"})),
               kUsualPort + job % 10000);
  return options;
}

RankOptions of_mpi(const Variables& variables) {
  RankOptions options;
  options.size = variables.needed({"OMPI_COMM_WORLD_SIZE", "PMI_SIZE"}, 1, kMostProcesses);
  options.rank = variables.needed({"OMPI_COMM_WORLD_RANK", "PMI_RANK"}, 0, kMostProcesses);
  options.local_rank =
      variables.number({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}, 0, kMostProcesses)
          .value_or(0);
  options.local_size =
      variables.number({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}, 1, kMostProcesses)
          .value_or(options.local_rank + 1);
  const bool one_machine = options.local_size == options.size;
  read_address(variables, options, one_machine ? "127.0.0.1" : "", kUsualPort);
  return options;
}

}  // namespace

RankOptions read_launch(Launcher launcher, const Environment& environment) {
  const Variables variables(environment);
  RankOptions options;
  switch (launcher) {
    case Launcher::variables:
      options = of_variables(variables);
      break;
    case Launcher::slurm:
      options = of_slurm(variables);
      break;
    case Launcher::mpi:
      options = of_mpi(variables);
      break;
    case Launcher::none:
      break;
  }
  require_option(options.rank < options.size,
                 "there is no process {} among {}: they are numbered from 0", options.rank,
                 options.size);
  require_option(options.local_rank < options.local_size || options.local_size == 1,
                 "there is no process {} among the {} of this machine: they are numbered from 0",
                 options.local_rank, options.local_size);
  return options;
}

std::string first_host(const std::string& list) {
  const size_t bracket = list.find_first_of("[,");
  if (bracket == std::string::npos || list[bracket] == ',') return list.substr(0, bracket);
  const size_t end = list.find_first_of("-,]", bracket);
  if (end == std::string::npos) return "";
  const size_t close = list.find(']', bracket);
  const size_t comma = list.find(',', close == std::string::npos ? end : close);
  const std::string rest =
      close == std::string::npos
          ? std::string()
          : list.substr(close + 1,
                        comma == std::string::npos ? std::string::npos : comma - close - 1);
  return list.substr(0, bracket) + list.substr(bracket + 1, end - bracket - 1) + rest;
}

}  // namespace tessera::app
