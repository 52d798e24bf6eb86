//! NVIDIA's matrix units: mma.sync m16n8k16. mma.hpp documents the functions.
//
// Included by mma.hpp.
#pragma once

namespace hipstack {

DEVICE u32 truncate_pair(f32 low, f32 high) {
    u32 out;
    if constexpr (IS_BF16) asm("prmt.b32 %0, %1, %2, 0x7632;" : "=r"(out) : "r"(bits_of(low)), "r"(bits_of(high)));
    else asm("cvt.rz.f16x2.f32 %0, %1, %2;" : "=r"(out) : "f"(high), "f"(low));
    return out;
}

#define MMA(type)                                                                                                          \
    asm("mma.sync.aligned.m16n8k16.row.col.f32." type "." type ".f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, "        \
        "{%0, %1, %2, %3};"                                                                                                \
        : "+f"(w), "+f"(x), "+f"(y), "+f"(z)                                                                               \
        : "r"(a[i].at[0]), "r"(a[i].at[1]), "r"(a[i].at[2]), "r"(a[i].at[3]), "r"(b.at[2 * j]), "r"(b.at[2 * j + 1]))
template <u32 ROWS> DEVICE void multiply(Sums (&sums)[ROWS], const Fragment (&a)[ROWS], const Fragment& b) {
    UNROLL
    for (u32 j = 0; j < 2; j++) {
        UNROLL
        for (u32 i = 0; i < ROWS; i++) {
            f32 &w = sums[i][0][2 * j], &x = sums[i][0][2 * j + 1], &y = sums[i][1][2 * j], &z = sums[i][1][2 * j + 1];
            if constexpr (IS_BF16) MMA("bf16");
            else MMA("f16");
        }
    }
}
#undef MMA

// Loads four 8 by 8 matrices from shared memory. row_of(lane) is the address of row lane % 8 of matrix lane / 8, 16 bytes aligned. at[i] of
// a lane has the elements 2t and 2t+1 of row g of matrix i, or with TURNED of column g.
template <bool TURNED, class RowOf> DEVICE void load_matrices(u32 (&at)[4], u32 lane, RowOf row_of) {
    const u32 from = shared_address(row_of(lane));
    if constexpr (TURNED)
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(at[0]), "=r"(at[1]), "=r"(at[2]), "=r"(at[3]) : "r"(from) : "memory");
    else
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                     : "=r"(at[0]), "=r"(at[1]), "=r"(at[2]), "=r"(at[3]) : "r"(from) : "memory");
}

} // namespace hipstack
#include "mma_lanes.hpp"
