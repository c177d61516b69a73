#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <mutex>

namespace tessera {

// A tensor of the host, and its copies on other devices, made when they are first asked for.
class DeviceCopies {
 public:
  explicit DeviceCopies(at::Tensor host) : host_(std::move(host)) {}

  at::Tensor on(const at::Device& device) const {
    if (device.is_cpu()) return host_;
    const std::lock_guard lock(mutex_);
    at::Tensor& copy = copies_[device.index()];
    if (!copy.defined()) copy = host_.to(device);
    return copy;
  }

 private:
  at::Tensor host_;
  mutable std::mutex mutex_;
  mutable std::map<c10::DeviceIndex, at::Tensor> copies_;
};

}  // namespace tessera
