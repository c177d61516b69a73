#pragma once

#include "bench_measure.h"

namespace tessera::app {

// Times the mean of the codes under the scores of estimates against a naive version that stores
// every score, in one run, and prints time, memory and the error against float64.
void bench_mean(const BenchOptions& options);

}  // namespace tessera::app
