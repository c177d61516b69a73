#include "base/device.h"

#include "base/require.h"

#include <ATen/Context.h>
#include <c10/core/impl/VirtualGuardImpl.h>

#include <charconv>

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
  if (text == "auto") return count > 0 ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
  int index = 0;
  bool valid = text == "cuda";
  if (text.starts_with("cuda:")) {
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data() + 5, end, index);
    valid = error == std::errc() && stop == end && index >= 0 && text.size() > 5;
  }
  require_option(valid, "unknown device '{}': use auto, cpu, cuda or cuda:N", text);
  require(count > 0, "device '{}' was asked for, but {}", text,
          at::hasCUDA() ? "no CUDA device was found" : "this build has no CUDA");
  require(index < count, "device '{}' was asked for, but there are only {} CUDA devices", text,
          count);
  return at::Device(at::kCUDA, static_cast<c10::DeviceIndex>(index));
}

void* current_stream(at::Device device) {
  return c10::impl::VirtualGuardImpl(device.type()).getStream(device).native_handle();
}

void synchronize(at::Device device) {
  if (device.is_cuda()) c10::impl::VirtualGuardImpl(at::kCUDA).synchronizeDevice(device.index());
}

}  // namespace tessera
