#include "kernels/cpu/int8.h"

#include "kernels/cpu/isa.h"

namespace tessera::kernels::cpu {

#ifdef TESSERA_X86_KERNELS
extern const Int8Kernels int8_kernels_avx2;
extern const Int8Kernels int8_kernels_avx512vnni;
#endif

const std::vector<const Int8Kernels*>& available_int8_kernels() {
  static const std::vector<const Int8Kernels*> available = [] {
    std::vector<const Int8Kernels*> found;
#ifdef TESSERA_X86_KERNELS
    if (runs_avx512vnni()) found.push_back(&int8_kernels_avx512vnni);
    if (runs_avx2()) found.push_back(&int8_kernels_avx2);
#endif
    return found;
  }();
  return available;
}

}  // namespace tessera::kernels::cpu
