#pragma once

#include "tensor/cudnn_benchmark.h"

#include <tessera/tensor/value_checks.h>

#include <c10/core/Device.h>

#include <optional>

namespace tessera::train {

// While one lives, LibTorch's switches are set for training on a device, and failed value checks of
// this thread are its own; to be made before the model. The switches are those of the whole
// process, and are put back as they were when the last one is gone. On the CPU there are none.
class DeviceSwitches {
 public:
  // Throws Error where trainings at once would need different switches, and for a deterministic
  // one where the environment does not let cuBLAS be so.
  DeviceSwitches(c10::Device device, bool deterministic);
  ~DeviceSwitches();
  DeviceSwitches(const DeviceSwitches&) = delete;
  DeviceSwitches& operator=(const DeviceSwitches&) = delete;

 private:
  ValueCheckScope checks_;
  bool counts_;
  std::optional<CudnnBenchmark> benchmark_;
};

}  // namespace tessera::train
