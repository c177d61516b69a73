#include "kernels/bit_exit.h"

#include "kernels/cpu/row_scan.h"

#include <ATen/Parallel.h>

namespace tessera::kernels::cpu {

void bit_exit(const BitExit& problem) {
  at::parallel_for(0, problem.n, 4096,
                   [&](int64_t begin, int64_t end) { row_scan().bit_exit(problem, begin, end); });
}

}  // namespace tessera::kernels::cpu
