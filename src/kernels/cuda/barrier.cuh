#pragma once

#include <cstdint>

#include "kernels/cuda/mma.cuh"

namespace tessera::kernels::cuda {

// __syncthreads() in two halves. What the block's threads did before arrive() is visible to all of
// them after the wait() that follows. A warp may do other things in between. Lives in shared
// memory.
class SplitBarrier {
 public:
  // Every thread calls this, and a __syncthreads() follows before the first use.
  __device__ void init(unsigned threads) {
    if (threadIdx.x != 0) return;
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(address()), "r"(threads / 32)
                 : "memory");
  }

  __device__ void arrive() {
    __syncwarp();
    if (threadIdx.x % 32 != 0) return;
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(address()) : "memory");
  }

  // round: how often this thread has arrived and waited before.
  __device__ void wait(uint32_t round) {
    uint32_t done = 0;
    while (done == 0) {
      asm volatile(
          "{\n"
          ".reg .pred done;\n"
          "mbarrier.try_wait.parity.shared::cta.b64 done, [%1], %2;\n"
          "selp.u32 %0, 1, 0, done;\n"
          "}"
          : "=r"(done)
          : "r"(address()), "r"(round & 1)
          : "memory");
    }
  }

 private:
  __device__ uint32_t address() const { return shared_address(&state_); }

  uint64_t state_;
};

}  // namespace tessera::kernels::cuda
