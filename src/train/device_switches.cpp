#include "train/device_switches.h"

#include "base/require.h"

#include <ATen/Context.h>

#include <cstdlib>
#include <mutex>

namespace tessera::train {
namespace {

// The switches that every training sets.
struct Switches {
  bool tf32 = false, cudnn_attention = false, cudnn_benchmark = false;
  bool deterministic = false, warn_only = false, fill_memory = false;

  static Switches found() {
    const at::Context& context = at::globalContext();
    return {context.allowTF32CuBLAS(),
            context.userEnabledCuDNNSDP(),
            context.benchmarkCuDNN(),
            context.deterministicAlgorithms(),
            context.deterministicAlgorithmsWarnOnly(),
            context.deterministicFillUninitializedMemory()};
  }

  void set() const {
    at::Context& context = at::globalContext();
    context.setAllowTF32CuBLAS(tf32);
    context.setSDPUseCuDNN(cudnn_attention);
    context.setBenchmarkCuDNN(cudnn_benchmark);
    context.setDeterministicAlgorithms(deterministic, warn_only);
    context.setDeterministicFillUninitializedMemory(fill_memory);
  }
};

std::mutex mutex;
int living = 0;
Switches before, in_force;

void require_cublas_workspace() {
  constexpr const char* kVariable = "CUBLAS_WORKSPACE_CONFIG";
  const char* const found = std::getenv(kVariable);
  const std::string value = found == nullptr ? "" : found;
  if (value == ":4096:8" || value == ":16:8") return;
  throw Error(fmt::format("train.deterministic needs {}=:4096:8 in the environment{}", kVariable,
                          value.empty() ? "" : fmt::format(", which has '{}'", value)),
              "set it before the program starts: cuBLAS reads it when it is first used");
}

}  // namespace

DeviceSwitches::DeviceSwitches(c10::Device device, bool deterministic)
    // Ids come from a checked corpus and losses are watched, so nothing is checked again on CUDA.
    : checks_(device.is_cuda() ? ValueChecks::off : value_checks()), counts_(device.is_cuda()) {
  if (!counts_) return;
  if (deterministic) require_cublas_workspace();
  const std::lock_guard lock(mutex);
  require(living == 0 || in_force.deterministic == deterministic,
          "another training is under way that has another train.deterministic");
  if (living == 0) {
    before = Switches::found();
    // The float32 products on CUDA are those of codes with estimates. TF32 is enough for a loss,
    // and the boundary has kernels of its own.
    in_force = {.tf32 = true,
                .cudnn_attention = !deterministic,
                .cudnn_benchmark = before.cudnn_benchmark && !deterministic,
                .deterministic = deterministic};
    in_force.set();
  }
  ++living;
  if (!deterministic) benchmark_.emplace(device);
}

DeviceSwitches::~DeviceSwitches() {
  if (!counts_) return;
  benchmark_.reset();
  const std::lock_guard lock(mutex);
  if (--living > 0) return;
  // Meanwhile an engine may have asked for benchmarks, too.
  if (!in_force.deterministic) before.cudnn_benchmark = at::globalContext().benchmarkCuDNN();
  before.set();
}

}  // namespace tessera::train
