#include <cuda_runtime.h>

#include "kernels/device.h"

namespace tessera::kernels::cuda {

bool has_code_for(int index) {
  int major = 0;
  return cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, index) == cudaSuccess &&
         major >= 9;
}

}  // namespace tessera::kernels::cuda
