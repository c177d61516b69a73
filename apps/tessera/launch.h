#pragma once

#include <tessera/base/enum_names.h>
#include <tessera/ranks/rank_options.h>

#include <array>
#include <functional>
#include <string>
#include <string_view>
#include <utility>

namespace tessera::app {

// Who starts the processes that train together, and so which variables of the environment say which
// of them this one is.
enum class Launcher {
  variables,  // RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR, MASTER_PORT: torchrun sets them
  slurm,      // SLURM_PROCID, SLURM_NTASKS, SLURM_LOCALID, SLURM_JOB_NODELIST
  mpi,        // OMPI_COMM_WORLD_RANK, ... of Open MPI, or PMI_RANK, ... of others
  none,       // nobody: whatever the variables say, this process is alone
};

using Environment = std::function<const char*(const char* name)>;  // null: not set

// The place of this process. Without WORLD_SIZE (variables) it is alone. Throws UsageError that
// names the variable that is missing or wrong.
RankOptions read_launch(Launcher launcher, const Environment& environment);

// The first host of a list as Slurm writes it: "node[03-05,9],login" -> "node03".
std::string first_host(const std::string& list);

}  // namespace tessera::app

template <>
struct tessera::EnumNames<tessera::app::Launcher> {
  using Launcher = tessera::app::Launcher;
  static constexpr std::string_view what = "launcher";
  static constexpr std::array<std::pair<Launcher, std::string_view>, 4> values{
      {{Launcher::variables, "variables"},
       {Launcher::slurm, "slurm"},
       {Launcher::mpi, "mpi"},
       {Launcher::none, "none"}}};
};
