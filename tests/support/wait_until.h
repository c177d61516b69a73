#pragma once

#include <chrono>
#include <thread>

namespace tessera::test {

// Waits until `holds()` is true. Returns false if it is not within a minute.
template <class Condition>
bool wait_until(Condition holds) {
  const auto end = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (!holds()) {
    if (std::chrono::steady_clock::now() > end) return false;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return true;
}

}  // namespace tessera::test
