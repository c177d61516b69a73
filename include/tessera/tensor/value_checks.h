#pragma once

#include <tessera/base/api.h>

#include <ATen/core/Tensor.h>

#include <memory>
#include <string_view>

namespace tessera {

// Checks of values (NaN, infinities, labels out of range), as opposed to shapes, which are always
// checked.
//   automatic  on the CPU at once, on CUDA deferred
//   immediate  at once on every device (synchronises: for finding an error, not for training)
//   deferred   without waiting for the device: a failed check sets a flag there, and
//              raise_deferred_errors() reads the flags
//   off        none
enum class ValueChecks { automatic, immediate, deferred, off };

// For the whole process, except the scopes below.
TESSERA_API void set_value_checks(ValueChecks mode);
TESSERA_API ValueChecks value_checks();  // in force in this thread

// Throws tessera::Error if a deferred check has failed on any device since the last call, naming
// the first argument. In a scope, only its own checks count; outside of scopes, those of all
// threads that are in none. One synchronisation per device in use: call it where metrics are read.
TESSERA_API void raise_deferred_errors();

// The deferred checks of one call. While a scope lives, the failures of its thread belong to it:
// only raise_deferred_errors() in this thread reports them, and they are forgotten with the scope.
// Generators, samplers of models and trainings have one each. Put one around calls of your own
// network if several threads work at once. Scopes of a thread must end in the reverse order of
// their creation.
class TESSERA_API ValueCheckScope {
 public:
  class Shared;

  ValueCheckScope();                           // with the mode in force
  explicit ValueCheckScope(ValueChecks mode);  // with a mode of its own
  // Joins the scope of another thread, as current() returned it there.
  explicit ValueCheckScope(std::shared_ptr<Shared> of_another_thread);
  ~ValueCheckScope();
  ValueCheckScope(const ValueCheckScope&) = delete;
  ValueCheckScope& operator=(const ValueCheckScope&) = delete;

  // The scope that this thread is in; null: none.
  static std::shared_ptr<Shared> current();

 private:
  std::shared_ptr<Shared> former_;
};

// Checks `x` for NaN and infinities.
TESSERA_API void check_finite(const at::Tensor& x, std::string_view argument);

// Checks low <= x <= high.
TESSERA_API void check_interval(const at::Tensor& x, double low, double high,
                                std::string_view argument);

// Checks 0 <= ids < count.
TESSERA_API void check_range(const at::Tensor& ids, int64_t count, std::string_view argument);

}  // namespace tessera
