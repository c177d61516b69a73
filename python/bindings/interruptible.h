#pragma once

#include "bindings.h"

#include <chrono>
#include <future>
#include <stop_token>

namespace tessera::python {

// Runs work(stop_token) in a thread of its own and waits for it, so that Ctrl-C and other signals
// are heard meanwhile: then the work is asked to stop, and what the signal raised is thrown. Call
// it with the GIL, which is free while the work runs.
template <class Work>
auto interruptible(const Work& work) {
  constexpr auto kBetweenLooks = std::chrono::milliseconds(50);
  const py::gil_scoped_release released;
  std::stop_source stop;
  auto done = std::async(std::launch::async, [&] { return work(stop.get_token()); });
  while (done.wait_for(kBetweenLooks) != std::future_status::ready) {
    const py::gil_scoped_acquire acquired;
    if (PyErr_CheckSignals() == 0) continue;
    const py::error_already_set raised;
    const py::gil_scoped_release released_again;
    stop.request_stop();
    done.wait();
    throw raised;
  }
  return done.get();
}

}  // namespace tessera::python
