#pragma once

#include "bench_measure.h"

namespace tessera::app {

// Times the stopping time's kernels against a naive version that stores every score, in one run,
// and prints time, memory, error and the share of the machine's own GEMM rate that is reached.
void bench_boundary(const BenchOptions& options);

}  // namespace tessera::app
