#include <tessera/base/value_checks.h>

#include "base/device.h"
#include "base/require.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace tessera {
namespace {

std::atomic<ValueChecks> current_mode{ValueChecks::automatic};

// Flags of checks that are read later: one per distinct problem, on every device that has been
// checked.
class DeferredChecks {
 public:
  void record(const at::Tensor& failed, const std::string& problem) {
    const std::lock_guard lock(mutex_);
    at::Tensor& flags = flags_[failed.device().index()];
    if (!flags.defined()) flags = at::zeros({kSlots}, failed.options().dtype(at::kBool));
    flags.select(0, slot_of(problem)).logical_or_(failed);
  }

  // Flags and slots stay where they are: a CUDA graph may have recorded them.
  void raise() {
    const std::lock_guard lock(mutex_);
    std::string first;
    for (auto& [index, flags] : flags_) {
      synchronize(flags.device());
      const at::Tensor host = flags.cpu();
      flags.zero_();
      const bool* set = host.const_data_ptr<bool>();
      for (size_t slot = 0; slot < problems_.size() && first.empty(); ++slot)
        if (set[slot]) first = problems_[slot];
    }
    if (!first.empty()) throw Error(first);
  }

 private:
  static constexpr int64_t kSlots = 64;

  // The last slot is for all problems that find no slot of their own.
  int64_t slot_of(const std::string& problem) {
    const auto found = std::find(problems_.begin(), problems_.end(), problem);
    if (found != problems_.end()) return found - problems_.begin();
    const auto taken = static_cast<int64_t>(problems_.size());
    if (taken == kSlots) return kSlots - 1;
    problems_.push_back(taken + 1 < kSlots ? problem : "a value check failed (one of many kinds)");
    return taken;
  }

  std::mutex mutex_;
  std::vector<std::string> problems_;
  std::map<int, at::Tensor> flags_;
};

DeferredChecks& deferred_checks() {
  static auto* checks = new DeferredChecks;  // outlives the CUDA driver's own clean-up
  return *checks;
}

// `failed` is a 0-d bool tensor.
void settle(const at::Tensor& failed, const std::string& problem) {
  if (failed.is_cuda() && value_checks() == ValueChecks::automatic)
    deferred_checks().record(failed, problem);
  else
    require(!failed.item<bool>(), "{}", problem);
}

}  // namespace

void set_value_checks(ValueChecks mode) {
  current_mode = mode;
}
ValueChecks value_checks() {
  return current_mode;
}
void raise_deferred_errors() {
  deferred_checks().raise();
}

void check_finite(const at::Tensor& x, std::string_view argument) {
  if (value_checks() == ValueChecks::off || x.numel() == 0) return;
  const c10::NoGradGuard no_grad;
  // Minimum and maximum carry NaN along, and need no memory beside the result.
  const auto [low, high] = at::aminmax(x);
  settle(at::logical_not(at::isfinite(low).logical_and_(at::isfinite(high))),
         fmt::format("{} contains NaN or infinite values", argument));
}

void check_interval(const at::Tensor& x, double low, double high, std::string_view argument) {
  if (value_checks() == ValueChecks::off || x.numel() == 0) return;
  const c10::NoGradGuard no_grad;
  const auto [smallest, largest] = at::aminmax(x);
  // Negated, so that NaN fails too.
  settle(at::logical_not(smallest.ge(low).logical_and_(largest.le(high))),
         fmt::format("{} must be in [{}, {}]", argument, low, high));
}

void check_range(const at::Tensor& ids, int64_t count, std::string_view argument) {
  if (value_checks() == ValueChecks::off || ids.numel() == 0) return;
  const auto [low, high] = at::aminmax(ids);
  if (!ids.is_cuda() || value_checks() == ValueChecks::immediate) {
    const auto smallest = low.item<int64_t>(), largest = high.item<int64_t>();
    require(smallest >= 0 && largest < count, "{} must be in [0, {}), found {}", argument, count,
            smallest < 0 ? smallest : largest);
    return;
  }
  settle(low.lt(0).logical_or_(high.ge(count)),
         fmt::format("{} must be in [0, {})", argument, count));
}

}  // namespace tessera
