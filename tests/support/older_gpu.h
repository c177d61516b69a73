#pragma once

#include "kernels/device.h"

namespace tessera::test {

// While one stands, a GPU computes as those before Hopper do.
struct OlderGpu {
  OlderGpu() { kernels::cuda::set_hopper_kernels(false); }
  ~OlderGpu() { kernels::cuda::set_hopper_kernels(true); }
  OlderGpu(const OlderGpu&) = delete;
  OlderGpu& operator=(const OlderGpu&) = delete;
};

}  // namespace tessera::test
