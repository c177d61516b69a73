#pragma once

#include <cstdint>

// The tensor-core instructions the kernels use, one function each. Lane l of a warp has g = l / 4
// and t = l % 4; a register holds two bf16, the lower half the one with the lower index.
namespace tessera::kernels::cuda {

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

}  // namespace tessera::kernels::cuda
