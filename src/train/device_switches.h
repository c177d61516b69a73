#pragma once

#include "tensor/cudnn_benchmark.h"

#include <tessera/tensor/value_checks.h>

#include <c10/core/Device.h>

#include <optional>

namespace tessera::train {

// While an object lives, LibTorch's switches are set for training on a device, and failed value
// checks of this thread are its own; make it before the model. The switches are those of the whole
// process, and are restored when the last object is gone. On the CPU there are none.
class DeviceSwitches {
 public:
  // Throws Error if simultaneous trainings would need different switches, and for a deterministic
  // training if the environment does not allow cuBLAS to be deterministic.
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
