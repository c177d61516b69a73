#pragma once

#include <ATen/core/Tensor.h>

#include <string_view>

namespace tessera {

// Checks of values (NaN, infinities, labels out of range), as opposed to shapes, which are always
// checked.
//   automatic  on the CPU at once; on CUDA without synchronising: a failed check sets a flag on the
//   device, and
//              raise_deferred_errors() reads the flags
//   immediate  at once on every device (synchronises: for finding an error, not for training)
//   off        none
enum class ValueChecks { automatic, immediate, off };

void set_value_checks(ValueChecks mode);  // for the whole process
ValueChecks value_checks();

// Throws tessera::Error if a deferred check has failed on any device since the last call, naming
// the first argument. One synchronisation per device in use: call it where metrics are read.
void raise_deferred_errors();

// Checks `x` for NaN and infinities.
void check_finite(const at::Tensor& x, std::string_view argument);

// Checks low <= x <= high.
void check_interval(const at::Tensor& x, double low, double high, std::string_view argument);

// Checks 0 <= ids < count.
void check_range(const at::Tensor& ids, int64_t count, std::string_view argument);

}  // namespace tessera
