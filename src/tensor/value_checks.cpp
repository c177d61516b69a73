#include <tessera/tensor/value_checks.h>

#include "base/require.h"
#include "tensor/device.h"

#include <ATen/ATen.h>
#include <c10/core/GradMode.h>
#include <c10/core/Stream.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace tessera {
namespace {

std::atomic<ValueChecks> current_mode{ValueChecks::automatic};

// Flags of checks that are read later: one per distinct problem, separately for every stream.
// Streams do not wait for each other, so they do not share flags.
class DeferredChecks {
 public:
  void record(const at::Tensor& failed, const std::string& problem) {
    const std::lock_guard lock(mutex_);
    at::Tensor& flags = flags_[place_of(failed.device())];
    if (!flags.defined()) flags = at::zeros({kSlots}, failed.options().dtype(at::kBool));
    flags.select(0, slot_of(problem)).logical_or_(failed);
  }

  // Flags and slots stay where they are: a CUDA graph may have recorded them.
  void raise() {
    const std::lock_guard lock(mutex_);
    std::string first;
    for (auto& [place, flags] : flags_) {
      synchronize(flags.device());
      const at::Tensor host = flags.to(at::kCPU, /*non_blocking=*/false, /*copy=*/true);
      flags.zero_();
      const bool* set = host.const_data_ptr<bool>();
      for (size_t slot = 0; slot < problems_.size() && first.empty(); ++slot)
        if (set[slot]) first = problems_[slot];
    }
    if (!first.empty()) throw Error(first);
  }

 private:
  static constexpr int64_t kSlots = 64;
  using Place = std::pair<int, c10::StreamId>;  // device, stream

  static Place place_of(at::Device device) {
    return {device.index(), c10::impl::VirtualGuardImpl(device.type()).getStream(device).id()};
  }

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
  std::map<Place, at::Tensor> flags_;
};

// The checks of threads that are in no scope.
DeferredChecks& checks_of_the_process() {
  static auto* checks = new DeferredChecks;  // outlives the CUDA driver's own clean-up
  return *checks;
}

}  // namespace

class ValueCheckScope::Shared {
 public:
  explicit Shared(ValueChecks mode_in_it) : mode(mode_in_it) {}

  const ValueChecks mode;
  DeferredChecks checks;
};

namespace {

thread_local std::shared_ptr<ValueCheckScope::Shared> current_scope;

DeferredChecks& deferred_checks() {
  return current_scope ? current_scope->checks : checks_of_the_process();
}

bool are_deferred(const at::Tensor& x) {
  const ValueChecks mode = value_checks();
  return mode == ValueChecks::deferred || (mode == ValueChecks::automatic && x.is_cuda());
}

// `failed` is a 0-d bool tensor.
void settle(const at::Tensor& failed, const std::string& problem) {
  if (are_deferred(failed))
    deferred_checks().record(failed, problem);
  else
    require(!failed.item<bool>(), "{}", problem);
}

}  // namespace

ValueCheckScope::ValueCheckScope() : ValueCheckScope(value_checks()) {}

ValueCheckScope::ValueCheckScope(ValueChecks mode)
    : ValueCheckScope(std::make_shared<Shared>(mode)) {}

ValueCheckScope::ValueCheckScope(std::shared_ptr<Shared> of_another_thread)
    : former_(std::exchange(current_scope, std::move(of_another_thread))) {}

ValueCheckScope::~ValueCheckScope() {
  current_scope = std::move(former_);
}

std::shared_ptr<ValueCheckScope::Shared> ValueCheckScope::current() {
  return current_scope;
}

void set_value_checks(ValueChecks mode) {
  current_mode = mode;
}
ValueChecks value_checks() {
  return current_scope ? current_scope->mode : current_mode.load();
}
void raise_deferred_errors() {
  deferred_checks().raise();
}

void check_finite(const at::Tensor& x, std::string_view argument) {
  if (value_checks() == ValueChecks::off || x.numel() == 0) return;
  const c10::NoGradGuard no_grad;
  // Minimum and maximum carry NaN along, and need no memory besides the result.
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
  if (!are_deferred(ids)) {
    const auto smallest = low.item<int64_t>(), largest = high.item<int64_t>();
    require(smallest >= 0 && largest < count, "{} must be in [0, {}), found {}", argument, count,
            smallest < 0 ? smallest : largest);
    return;
  }
  settle(low.lt(0).logical_or_(high.ge(count)),
         fmt::format("{} must be in [0, {})", argument, count));
}

}  // namespace tessera
