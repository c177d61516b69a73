#pragma once

#include <c10/core/Device.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

namespace tessera {

// One kind of work and what it took. On CUDA the work is kernels, on the CPU LibTorch's operations,
// without those they call.
struct ProfileRow {
  std::string name;
  int64_t calls = 0;
  double seconds = 0;
};

struct Profile {
  double seconds = 0;            // from begin to end
  double busy = 0;               // of these, with work in progress
  std::vector<ProfileRow> rows;  // most time first

  // A table of the first rows, for people.
  std::string table(size_t count = 40) const;
};

// Records what a device does from construction to finish(). One at a time in a process.
class Profiler {
 public:
  explicit Profiler(c10::Device device);
  ~Profiler();
  Profiler(const Profiler&) = delete;
  Profiler& operator=(const Profiler&) = delete;

  // Writes the trace (for chrome://tracing or Perfetto) if a path is given.
  Profile finish(const std::filesystem::path& trace = {});

 private:
  c10::Device device_;
  bool recording_ = true;
};

}  // namespace tessera
