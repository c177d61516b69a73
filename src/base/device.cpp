#include "base/device.h"

#include "base/require.h"
#include "kernels/device.h"

#include <ATen/Context.h>
#include <c10/core/DeviceGuard.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <charconv>
#include <stdexcept>

namespace tessera {

int cuda_device_count() {
#ifdef TESSERA_WITH_CUDA
  if (at::hasCUDA()) return c10::impl::VirtualGuardImpl(at::kCUDA).deviceCount();
#endif
  return 0;
}

at::Device parse_device(const std::string& text) {
  if (text == "cpu") return at::kCPU;
  const int count = cuda_device_count();
  if (text == "auto")
    return count > 0 && kernels::cuda::has_code_for(0) ? at::Device(at::kCUDA, 0) : at::kCPU;
  int index = 0;
  bool valid = text == "cuda";
  if (text.starts_with("cuda:")) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 5, end, index);
    valid = error == std::errc() && stop == end && index >= 0 && text.size() > 5;
  }
  require_option(valid, "unknown device '{}': use auto, cpu, cuda or cuda:N", text);
#ifdef TESSERA_WITH_CUDA
  require(count > 0, "device '{}' was asked for, but no CUDA device was found", text);
#else
  require(false, "device '{}' was asked for, but this build has no CUDA kernels", text);
#endif
  require(index < count, "device '{}' was asked for, but there are only {} CUDA devices", text,
          count);
  require(kernels::cuda::has_code_for(index),
          "device '{}' is older than compute capability 9.0, which the CUDA kernels need", text);
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
