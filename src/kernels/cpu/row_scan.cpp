#include "kernels/cpu/row_scan.h"

namespace tessera::kernels::cpu {

extern const RowScan row_scan_baseline;
#ifdef TESSERA_X86_KERNELS
extern const RowScan row_scan_avx2;
extern const RowScan row_scan_avx512;
#endif

const std::vector<const RowScan*>& available_row_scans() {
  static const std::vector<const RowScan*> available = [] {
    std::vector<const RowScan*> found;
#ifdef TESSERA_X86_KERNELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl"))
      found.push_back(&row_scan_avx512);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      found.push_back(&row_scan_avx2);
#endif
    found.push_back(&row_scan_baseline);
    return found;
  }();
  return available;
}

}  // namespace tessera::kernels::cpu
