#include "tensor/machine_memory.h"

#include <tessera/base/error.h>

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <fstream>
#include <optional>

namespace tessera {
namespace {

// The number after `key` in a file of "key number" lines.
std::optional<uint64_t> number_after(const char* path, const std::string& key) {
  std::ifstream file(path);
  uint64_t value = 0;
  for (std::string word; file >> word;)
    if (word == key && file >> value) return value;
  return std::nullopt;
}

// The number a file holds; none if it is missing or says "max".
std::optional<uint64_t> number_in(const char* path) {
  std::ifstream file(path);
  uint64_t value = 0;
  return file >> value ? std::optional(value) : std::nullopt;
}

// The files with a container's limit, in both versions of control groups.
struct Places {
  const char *limit, *used, *details, *cached;
};
constexpr Places kVersion2{"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory.current",
                           "/sys/fs/cgroup/memory.stat", "inactive_file"};
constexpr Places kVersion1{"/sys/fs/cgroup/memory/memory.limit_in_bytes",
                           "/sys/fs/cgroup/memory/memory.usage_in_bytes",
                           "/sys/fs/cgroup/memory/memory.stat", "total_inactive_file"};

void limit_to_container(Memory& memory, const Places& places) {
  const auto limit = number_in(places.limit);
  const auto used = number_in(places.used);
  if (!limit || !used || *limit >= memory.total) return;
  // Cached files are dropped when memory is needed.
  const auto cached = number_after(places.details, places.cached).value_or(0);
  const uint64_t needed = *used - std::min(*used, cached);
  memory.total = *limit;
  memory.available = std::min(memory.available, *limit - std::min(*limit, needed));
}

void limit_to_process(Memory& memory) {
  rlimit limit{};
  if (getrlimit(RLIMIT_AS, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) return;
  memory.total = std::min<uint64_t>(memory.total, limit.rlim_cur);
  memory.available = std::min(memory.available, memory.total);
}

}  // namespace

Memory machine_memory() {
  Memory memory;
  memory.total = number_after("/proc/meminfo", "MemTotal:").value_or(0) * 1024;
  memory.available = number_after("/proc/meminfo", "MemAvailable:").value_or(0) * 1024;
  for (const Places& places : {kVersion2, kVersion1}) limit_to_container(memory, places);
  limit_to_process(memory);
  return memory;
}

std::string bytes_text(double bytes) {
  static constexpr std::array<const char*, 5> kUnits{"B", "KiB", "MiB", "GiB", "TiB"};
  size_t unit = 0;
  for (; bytes >= 1024 && unit + 1 < kUnits.size(); ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, kUnits[unit]);
}

void require_memory(double bytes, const std::string& what, const std::string& hint) {
  const auto total = static_cast<double>(machine_memory().total);
  if (total > 0 && bytes > total)
    throw Error(fmt::format("{}: that takes {} of memory, and there are {} in all", what,
                            bytes_text(bytes), bytes_text(total)),
                hint);
}

}  // namespace tessera
