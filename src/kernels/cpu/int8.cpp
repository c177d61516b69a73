#include "kernels/cpu/int8.h"

namespace tessera::kernels::cpu {

#ifdef TESSERA_X86_KERNELS
extern const Int8Kernels int8_kernels_avx2;
extern const Int8Kernels int8_kernels_avx512vnni;
#endif

const std::vector<const Int8Kernels*>& available_int8_kernels() {
  static const std::vector<const Int8Kernels*> available = [] {
    std::vector<const Int8Kernels*> found;
#ifdef TESSERA_X86_KERNELS
    __builtin_cpu_init();
    if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
        __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
        __builtin_cpu_supports("avx512vnni"))
      found.push_back(&int8_kernels_avx512vnni);
    if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
      found.push_back(&int8_kernels_avx2);
#endif
    return found;
  }();
  return available;
}

}  // namespace tessera::kernels::cpu
