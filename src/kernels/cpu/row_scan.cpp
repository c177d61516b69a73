#include "kernels/cpu/row_scan.h"

#include "kernels/cpu/isa.h"

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
    if (runs_avx512()) found.push_back(&row_scan_avx512);
    if (runs_avx2()) found.push_back(&row_scan_avx2);
#endif
    found.push_back(&row_scan_baseline);
    return found;
  }();
  return available;
}

}  // namespace tessera::kernels::cpu
