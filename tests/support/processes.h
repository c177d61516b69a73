#pragma once

#include <tessera/process/process.h>

#include <string_view>

namespace tessera::test {

inline Process process_with(std::string_view trajectory, double r, int64_t horizon) {
  ProcessOptions options;
  options.trajectory.kind = parse_name<TrajectoryKind>(trajectory);
  options.trajectory.horizon = horizon;
  options.r = r;
  return Process(options);
}

}  // namespace tessera::test
