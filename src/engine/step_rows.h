#pragma once

#include <tessera/process/sampler.h>

#include <cstdint>

namespace tessera::engine {

// A step of a batch for some of its samples: views of rows first .. first + count - 1.
SampleStep rows_of(const SampleStep& step, int64_t first, int64_t count);

}  // namespace tessera::engine
