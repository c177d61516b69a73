#pragma once

namespace tessera::app {

// Whether a driver for NVIDIA devices is loaded.
bool has_nvidia_driver();

}  // namespace tessera::app
