#include "tensor/peak_memory.h"

#include <ATen/Context.h>
#include <c10/core/CachingDeviceAllocator.h>

#include <sys/resource.h>

namespace tessera {
namespace {

constexpr auto kAll = static_cast<size_t>(c10::CachingAllocator::StatType::AGGREGATE);

}  // namespace

PeakMemory::PeakMemory(at::Device device) : device_(device) {
  if (device.is_cpu()) return;
  at::globalContext().lazyInitDevice(device.type());
  auto* allocator = at::getDeviceAllocator(device.type());
  allocator->resetPeakStats(device.index());
  start_ = allocator->getDeviceStats(device.index()).requested_bytes[kAll].current;
}

int64_t PeakMemory::bytes() const {
  if (device_.is_cpu()) {
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    return usage.ru_maxrss * 1024;
  }
  auto* allocator = at::getDeviceAllocator(device_.type());
  return allocator->getDeviceStats(device_.index()).requested_bytes[kAll].peak - start_;
}

}  // namespace tessera
