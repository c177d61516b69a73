#pragma once

#include <cstdint>

// The tensor-core instructions that the kernels use, one function each. Lane l of a warp has
// g = l / 4 and t = l % 4. A register holds two bf16, the one with the lower index in the lower
// half.
namespace tessera::kernels::cuda {

// Whether the chip this is compiled for can multiply straight from shared memory, in warpgroups of
// 128 threads. Only Hopper can: neither earlier nor later chips.
#ifdef __CUDA_ARCH_FEAT_SM90_ALL
inline constexpr bool kHasWarpgroupProducts = true;
#else
inline constexpr bool kHasWarpgroupProducts = false;
#endif

// {low half: first, high half: second}, rounded to nearest.
__device__ inline uint32_t pack_bf16(float first, float second) {
  uint32_t packed;
  asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(packed) : "f"(second), "f"(first));
  return packed;
}

__device__ inline uint32_t shared_address(const void* pointer) {
  return static_cast<uint32_t>(__cvta_generic_to_shared(pointer));
}

// Four 8 x 8 matrices; lane l gives the address of row l % 8 (16 bytes, aligned) of matrix l / 8
// and receives elements 2t and 2t + 1 of row g of each.
__device__ inline void load_matrices(uint32_t address, uint32_t (&matrix)[4]) {
  asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
               : "=r"(matrix[0]), "=r"(matrix[1]), "=r"(matrix[2]), "=r"(matrix[3])
               : "r"(address)
               : "memory");
}

// sum [16 x 8] += a [16 x 16] b [16 x 8].
//   a: rows g, g + 8, g, g + 8 at columns 2t, 2t, 2t + 8, 2t + 8
//   b: column g, rows 2t and 2t + 8
//   sum: (g, 2t), (g, 2t + 1), (g + 8, 2t), (g + 8, 2t + 1)
__device__ inline void multiply_add(float (&sum)[4], const uint32_t (&a)[4], uint32_t b0,
                                    uint32_t b1) {
  asm volatile(
      "mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 "
      "{%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"
      : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
}

// The rest is for warpgroups. A descriptor names a matrix in shared memory: consecutive rows of 64
// bf16 (128 bytes) that start at a multiple of 1,024 bytes. The 16-byte piece p of row r lies at
// place p ^ (r % 8), which avoids bank conflicts.
__device__ inline uint64_t describe(uint32_t address) {
  constexpr uint64_t kSwizzled = uint64_t{1} << 62;
  constexpr uint64_t kEightRows = uint64_t{1024 / 16} << 32;
  return kSwizzled | kEightRows | (address & 0x3FFFF) / 16;
}

// Makes earlier ordinary stores to shared memory visible to later products (with a barrier).
__device__ inline void publish_to_products() {
  asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}

// Products started between begin_products() and end_products() run beside other code until
// wait_for_products(). That code must not touch their sums.
__device__ inline void begin_products() {
  asm volatile("wgmma.fence.sync.aligned;" ::: "memory");
}

__device__ inline void end_products() {
  asm volatile("wgmma.commit_group.sync.aligned;" ::: "memory");
}

__device__ inline void wait_for_products() {
  asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
}

// sum [64 x 64] = a [64 x 16] b [64 x 16]^T, plus sum if `add`. a, b: descriptors. Warp w of the
// warpgroup has rows 16 w to 16 w + 15, and sum[c] is as in multiply_add for columns 8 c to 8 c
// + 7.
__device__ inline void start_product(float (&sum)[8][4], uint64_t a, uint64_t b, bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %34, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31}, "
      "%32, %33, add, 1, 1, 0, 0;\n"
      "}"
      : "+f"(sum[0][0]), "+f"(sum[0][1]), "+f"(sum[0][2]), "+f"(sum[0][3]), "+f"(sum[1][0]),
        "+f"(sum[1][1]), "+f"(sum[1][2]), "+f"(sum[1][3]), "+f"(sum[2][0]), "+f"(sum[2][1]),
        "+f"(sum[2][2]), "+f"(sum[2][3]), "+f"(sum[3][0]), "+f"(sum[3][1]), "+f"(sum[3][2]),
        "+f"(sum[3][3]), "+f"(sum[4][0]), "+f"(sum[4][1]), "+f"(sum[4][2]), "+f"(sum[4][3]),
        "+f"(sum[5][0]), "+f"(sum[5][1]), "+f"(sum[5][2]), "+f"(sum[5][3]), "+f"(sum[6][0]),
        "+f"(sum[6][1]), "+f"(sum[6][2]), "+f"(sum[6][3]), "+f"(sum[7][0]), "+f"(sum[7][1]),
        "+f"(sum[7][2]), "+f"(sum[7][3])
      : "l"(a), "l"(b), "r"(static_cast<int>(add)));
}

// The same, with the warp's 16 rows of a in registers, as in multiply_add.
__device__ inline void start_product(float (&sum)[8][4], const uint32_t (&a)[4], uint64_t b,
                                     bool add) {
  asm volatile(
      "{\n"
      ".reg .pred add;\n"
      "setp.ne.b32 add, %37, 0;\n"
      "wgmma.mma_async.sync.aligned.m64n64k16.f32.bf16.bf16 "
      "{%0, %1, %2, %3, %4, %5, %6, %7, "
      "%8, %9, %10, %11, %12, %13, %14, %15, "
      "%16, %17, %18, %19, %20, %21, %22, %23, "
      "%24, %25, %26, %27, %28, %29, %30, %31}, "
      "{%32, %33, %34, %35}, %36, add, 1, 1, 0;\n"
      "}"
      : "+f"(sum[0][0]), "+f"(sum[0][1]), "+f"(sum[0][2]), "+f"(sum[0][3]), "+f"(sum[1][0]),
        "+f"(sum[1][1]), "+f"(sum[1][2]), "+f"(sum[1][3]), "+f"(sum[2][0]), "+f"(sum[2][1]),
        "+f"(sum[2][2]), "+f"(sum[2][3]), "+f"(sum[3][0]), "+f"(sum[3][1]), "+f"(sum[3][2]),
        "+f"(sum[3][3]), "+f"(sum[4][0]), "+f"(sum[4][1]), "+f"(sum[4][2]), "+f"(sum[4][3]),
        "+f"(sum[5][0]), "+f"(sum[5][1]), "+f"(sum[5][2]), "+f"(sum[5][3]), "+f"(sum[6][0]),
        "+f"(sum[6][1]), "+f"(sum[6][2]), "+f"(sum[6][3]), "+f"(sum[7][0]), "+f"(sum[7][1]),
        "+f"(sum[7][2]), "+f"(sum[7][3])
      : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "l"(b), "r"(static_cast<int>(add)));
}

}  // namespace tessera::kernels::cuda
