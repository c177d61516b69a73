#include "tensor/device.h"

#include "base/log.h"
#include "base/require.h"
#include "kernels/device.h"

#include <ATen/Context.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <charconv>
#include <mutex>
#include <stdexcept>

namespace tessera {
namespace {

std::string too_old(int index) {
  const auto facts = kernels::cuda::facts_of(index);
  return fmt::format("{} has compute capability {}.{}, and the CUDA kernels need 8.0", facts.name,
                     facts.major, facts.minor);
}

}  // namespace

int cuda_device_count() {
#ifdef TESSERA_WITH_CUDA
  if (at::hasCUDA()) return c10::impl::VirtualGuardImpl(at::kCUDA).deviceCount();
#endif
  return 0;
}

at::Device parse_device(const std::string& text) {
  if (text == "cpu") return at::kCPU;
  const int count = cuda_device_count();
  if (text == "auto") {
    if (count == 0) return at::kCPU;
    if (kernels::cuda::has_code_for(0)) return at::Device(at::kCUDA, 0);
    static std::once_flag said;
    std::call_once(said, [] { log::warn("{}: the CPU is used instead", too_old(0)); });
    return at::kCPU;
  }
  int index = 0;
  bool valid = text == "cuda";
  if (text.starts_with("cuda:")) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 5, end, index);
    valid = error == std::errc() && stop == end && index >= 0 && text.size() > 5;
  }
  require_option(valid, "unknown device '{}': use auto, cpu, cuda or cuda:N", text);
  const auto refuse = [&](const std::string& why, const std::string& hint) {
    throw Error(fmt::format("device '{}' was asked for, but {}", text, why), hint);
  };
  if (!kernels::cuda::built_in())
    refuse("this build has no CUDA kernels",
           "build again with a LibTorch that has CUDA and nvcc on the PATH, or compute on the CPU "
           "(device cpu)");
  if (count == 0)
    refuse(fmt::format("no CUDA device can be used: {}", kernels::cuda::why_no_device()),
           "compare the driver's version (nvidia-smi) with LibTorch's CUDA and look at "
           "CUDA_VISIBLE_DEVICES, or compute on the CPU (device cpu)");
  if (index >= count)
    refuse(count == 1 ? "there is one CUDA device only"
                      : fmt::format("there are {} CUDA devices", count),
           count == 1 ? "use cuda:0" : fmt::format("use one of cuda:0 to cuda:{}", count - 1));
  if (!kernels::cuda::has_code_for(index))
    refuse(too_old(index), "compute on the CPU (device cpu)");
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
}

void on_cuda(at::Device device, const std::function<void(void* stream)>& work) {
  const c10::DeviceGuard guard(device);
  try {
    work(c10::impl::VirtualGuardImpl(device.type()).getStream(device).native_handle());
  } catch (const std::runtime_error& failure) {
    throw Error(fmt::format("on {}: {}", device.str(), failure.what()));
  }
}

void synchronize(at::Device device) {
  if (device.is_cuda()) c10::impl::VirtualGuardImpl(at::kCUDA).synchronizeDevice(device.index());
}

}  // namespace tessera
