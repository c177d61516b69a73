#pragma once

#include "kernels/bit_exit.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace tessera::kernels::cpu {

// The values of the own code, with which the other scores are compared.
struct OwnScore {
  float score, noise_score;  // f(x0, I), f(eps, I)
  float guard;               // a margin up to this is too small for float32
};

// Result of a scan over some codes.
struct ScanResult {
  float ratio;     // largest b_J / a_J among the J with a_J > guard; -inf for none
  float smallest;  // smallest a_J; +inf for none
};

// The innermost loops, compiled once per instruction set.
struct RowScan {
  std::string_view name;

  // Scans `count` competitors: scores[j] = f(x0, J), noise_scores[j] = f(eps, J).
  ScanResult (*exit)(const OwnScore& own, const float* scores, const float* noise_scores,
                     int64_t count);

  float (*maximum)(const float* values, int64_t count);  // -inf for no values
  float (*squared_norm)(const float* values, int64_t count);

  // Elements [begin, end) of a BitExit problem.
  void (*bit_exit)(const BitExit& problem, int64_t begin, int64_t end);
};

// The ones this machine can run, best first; never empty.
const std::vector<const RowScan*>& available_row_scans();
inline const RowScan& row_scan() {
  return *available_row_scans().front();
}

}  // namespace tessera::kernels::cpu
