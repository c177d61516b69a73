#include "machine.h"

#include <filesystem>

namespace tessera::app {

bool has_nvidia_driver() {
  std::error_code ignored;
  return std::filesystem::exists("/proc/driver/nvidia/version", ignored) ||
         std::filesystem::exists("/dev/nvidia0", ignored);
}

}  // namespace tessera::app
