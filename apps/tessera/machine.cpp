#include "machine.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <optional>

namespace tessera::app {
namespace {

// The number after `key` in a file of "key number" lines.
std::optional<uint64_t> number_after(const char* path, const std::string& key) {
  std::ifstream file(path);
  uint64_t value = 0;
  for (std::string word; file >> word;)
    if (word == key && file >> value) return value;
  return std::nullopt;
}

// The number a file holds; none where it is missing or says "max".
std::optional<uint64_t> number_in(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

}  // namespace

Memory memory() {
  Memory memory;
  memory.total = number_after("/proc/meminfo", "MemTotal:").value_or(0) * 1024;
  memory.available = number_after("/proc/meminfo", "MemAvailable:").value_or(0) * 1024;
  const auto limit = number_in("/sys/fs/cgroup/memory.max");
  const auto used = number_in("/sys/fs/cgroup/memory.current");
  if (limit && used && *limit < memory.total) {
    // Cached files make way when memory is asked for.
    const auto cached = number_after("/sys/fs/cgroup/memory.stat", "inactive_file").value_or(0);
    const uint64_t needed = *used - std::min(*used, cached);
    memory.total = *limit;
    memory.available = std::min(memory.available, *limit - std::min(*limit, needed));
  }
  return memory;
}

std::string bytes_text(uint64_t bytes) {
  static constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1024 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  return fmt::format("{:.{}f} {}", value, unit == 0 ? 0 : 1, kUnits[unit]);
}

bool has_nvidia_driver() {
  std::error_code ignored;
  return std::filesystem::exists("/proc/driver/nvidia/version", ignored) ||
         std::filesystem::exists("/dev/nvidia0", ignored);
}

}  // namespace tessera::app
