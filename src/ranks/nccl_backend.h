#pragma once

#include <c10/util/intrusive_ptr.h>
#include <torch/csrc/distributed/c10d/Backend.hpp>
#include <torch/csrc/distributed/c10d/Store.hpp>

#include <chrono>

namespace tessera::ranks {

// Whether this build can exchange values between GPUs by NCCL.
bool knows_nccl();

// A backend for values on GPUs, one GPU a process. Only if this build knows NCCL.
c10::intrusive_ptr<c10d::Backend> nccl_backend(const c10::intrusive_ptr<c10d::Store>& store,
                                               int rank, int size,
                                               std::chrono::milliseconds timeout);

}  // namespace tessera::ranks
