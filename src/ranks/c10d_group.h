#pragma once

#include "ranks/group.h"

namespace tessera::ranks {

// Processes that talk by LibTorch's c10d: by Gloo, over TCP, and by NCCL where every process has a
// GPU of its own and this build knows NCCL. By Gloo, values on a GPU travel through the host.
std::unique_ptr<Group> meet_by_c10d(const RankOptions& options, at::Device device);

}  // namespace tessera::ranks
