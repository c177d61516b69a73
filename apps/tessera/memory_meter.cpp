#include "memory_meter.h"

#include <c10/core/CPUAllocator.h>

#include <algorithm>
#include <atomic>

namespace tessera::app {
namespace {

// Stands in front of LibTorch's CPU allocator while a meter is on.
class CountingAllocator final : public c10::Allocator {
 public:
  void start() {
    plain_ = c10::GetCPUAllocator();
    in_use_ = peak_ = 0;
    c10::SetCPUAllocator(this, kPriority);
  }
  void stop() { c10::SetCPUAllocator(plain_, kPriority); }
  int64_t peak() const { return peak_; }

  c10::DataPtr allocate(size_t bytes) override {
    c10::DataPtr data = plain_->allocate(bytes);
    add(static_cast<int64_t>(bytes));
    void* pointer = data.get();
    auto* held = new Held{std::move(data), static_cast<int64_t>(bytes), this};
    return {pointer, held, &release, c10::Device(c10::kCPU)};
  }
  void copy_data(void* to, const void* from, size_t bytes) const override {
    default_copy_data(to, from, bytes);
  }

 private:
  struct Held {
    c10::DataPtr data;
    int64_t bytes;
    CountingAllocator* owner;
  };

  static constexpr uint8_t kPriority = 255;

  static void release(void* context) {
    auto* held = static_cast<Held*>(context);
    held->owner->in_use_ -= held->bytes;
    delete held;
  }

  void add(int64_t bytes) {
    const int64_t now = in_use_ += bytes;
    int64_t seen = peak_;
    while (seen < now && !peak_.compare_exchange_weak(seen, now)) {
    }
  }

  c10::Allocator* plain_ = nullptr;
  std::atomic<int64_t> in_use_{0}, peak_{0};
};

CountingAllocator& counting_allocator() {
  static CountingAllocator allocator;
  return allocator;
}

}  // namespace

MemoryMeter::MemoryMeter(at::Device device) : device_(device) {
  if (device.is_cpu()) {
    counting_allocator().start();
  } else {
    device_peak_.emplace(device);
  }
}

MemoryMeter::~MemoryMeter() {
  if (device_.is_cpu()) counting_allocator().stop();
}

int64_t MemoryMeter::peak() const {
  if (device_.is_cpu()) return counting_allocator().peak();
  return device_peak_->bytes();
}

}  // namespace tessera::app
