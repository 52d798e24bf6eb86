//! Emulation of NVIDIA's matrix units on the host through shared memory. mma.hpp documents the functions.
//
// Included by mma.hpp.
#pragma once

namespace hipstack {

DEVICE u32 truncate_pair(f32 low, f32 high) { return join_halves(truncate_one(low), truncate_one(high)); }

template <u32 ROWS> DEVICE void multiply(Sums (&sums)[ROWS], const Fragment (&a)[ROWS], const Fragment& b) {
    struct Lane { f32 a[ROWS][8], b[8]; };
    SHARED_ARRAY(2, Lane, lanes, 256); // one entry for each thread of the block
    Lane& mine = lanes[threadIdx.x];
    const Lane* const all = lanes + threadIdx.x / GROUP * GROUP;
    const u32 g = lane_of_group() / 4, t = threadIdx.x % 4;
    for (u32 p = 0; p < 8; p++) {
        for (u32 i = 0; i < ROWS; i++) mine.a[i][p] = widen(p % 2 == 0 ? low_of<Unit>(a[i].at[p / 2]) : high_of<Unit>(a[i].at[p / 2]));
        mine.b[p] = widen(p % 2 == 0 ? low_of<Unit>(b.at[p / 2]) : high_of<Unit>(b.at[p / 2]));
    }
    __syncwarp();
    for (u32 i = 0; i < ROWS; i++) {
        for (u32 h = 0; h < 2; h++) {
            for (u32 e = 0; e < 4; e++) {
                const Lane* const holders = all + (2 * t + e % 2) * 4; // the lanes that hold this column of B
                f32 sum = 0.0f;
                for (u32 p = 0; p < 16; p++) // along the row of A and the column of B
                    sum = multiply_add(all[g * 4 + p % 8 / 2].a[i][p / 8 * 4 + h * 2 + p % 2],
                                       holders[p % 8 / 2].b[e / 2 * 4 + p / 8 * 2 + p % 2], sum);
                sums[i][h][e] += sum;
            }
        }
    }
    __syncwarp();
}

// As in mma_nvidia.hpp.
template <bool TURNED, class RowOf> DEVICE void load_matrices(u32 (&at)[4], u32 lane, RowOf row_of) {
    const u32 g = lane / 4, t = lane % 4;
    for (u32 i = 0; i < 4; i++)
        at[i] = TURNED ? join_halves(row_of(8 * i + 2 * t)[g].bits, row_of(8 * i + 2 * t + 1)[g].bits)
                       : join_halves(row_of(8 * i + g)[2 * t].bits, row_of(8 * i + g)[2 * t + 1].bits);
}

} // namespace hipstack
#include "mma_lanes.hpp"
