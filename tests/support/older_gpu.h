#pragma once

#include "kernels/device.h"

namespace tessera::test {

// While this object exists, a GPU computes like those before Hopper.
struct OlderGpu {
  OlderGpu() { kernels::cuda::set_hopper_kernels(false); }
  ~OlderGpu() { kernels::cuda::set_hopper_kernels(true); }
  OlderGpu(const OlderGpu&) = delete;
  OlderGpu& operator=(const OlderGpu&) = delete;
};

}  // namespace tessera::test
