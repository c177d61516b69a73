#pragma once

// For kernels that are compiled once per instruction set: NAME_isa.cpp, with the macro TESSERA_ISA.

#define TESSERA_NAME_2(prefix, isa) prefix##isa
#define TESSERA_NAME(prefix, isa) TESSERA_NAME_2(prefix, isa)
#define TESSERA_TEXT_2(isa) #isa
#define TESSERA_TEXT(isa) TESSERA_TEXT_2(isa)

namespace tessera::kernels::cpu {

#ifdef TESSERA_X86_KERNELS
// Whether this machine runs what was compiled with the flags of that name in src/CMakeLists.txt.
inline bool runs_avx2() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
inline bool runs_avx512() {
  __builtin_cpu_init();
  return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
}
inline bool runs_avx512vnni() {
  return runs_avx512() && __builtin_cpu_supports("avx512vnni");
}
#endif

}  // namespace tessera::kernels::cpu
