#include "nn/seeded_dropout.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/Context.h>

#include <mutex>
#include <utility>

namespace tessera::nn {
namespace {

thread_local std::optional<at::Generator> for_cpu;

}  // namespace

SeededDropout::SeededDropout(c10::Device device, uint64_t seed) {
  if (device.is_cpu()) {
    former_ = std::exchange(for_cpu, at::detail::createCPUGenerator(seed));
    return;
  }
  changed_ = at::globalContext().defaultGenerator(device);
  const std::lock_guard<std::mutex> lock(changed_.mutex());
  seed_ = changed_.current_seed();
  offset_ = changed_.get_offset();
  changed_.set_current_seed(seed);
}

SeededDropout::~SeededDropout() {
  if (!changed_.defined()) {
    for_cpu = std::move(former_);
    return;
  }
  const std::lock_guard<std::mutex> lock(changed_.mutex());
  changed_.set_current_seed(seed_);
  changed_.set_offset(offset_);
}

std::optional<at::Generator> SeededDropout::generator(c10::Device device) {
  return device.is_cpu() ? for_cpu : std::nullopt;
}

}  // namespace tessera::nn
