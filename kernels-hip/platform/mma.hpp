//! Products of 16 by 16 matrices of 16-bit numbers by matrix units, executed by the lanes of a group together.
//
// rows: 16 rows of 16 numbers (of q, or of weights), which become columns for the product. The other operand is k, also 16 rows, or v,
// whose columns become the rows. Sums are f32. Layouts are those of the target, and its header defines what differs:
//
//   GROUP          lanes that multiply together
//   HELD           rows of a fragment of which a lane holds sums
//   EACH           sums that a lane holds of each of these rows
//   held_row(h)    the number of such a row
//   held_column(e) the column of such a sum
//   join_lanes     reduces over the lanes that share a row
//   weights_of     converts sums to an operand of the next product without data of other lanes
//
// NVIDIA, mma.sync m16n8k16, g = lane / 4, t = lane % 4; two numbers a register, the one with the lower index in the low half:
//   A, 16 by 16   at[0] row g, columns 2t and 2t+1; at[1] row g+8; at[2] columns 2t+8 and 2t+9; at[3] both
//   B, 16 by 8    at[0] rows 2t and 2t+1, column g; at[1] rows 2t+8 and 2t+9; a second B has columns 8 to 15
//   sums, 16 by 8 row g, columns 2t and 2t+1; row g+8
// The host emulates this layout through shared memory, with groups of 32 in waves of either size, to test the kernels.
//
// AMD, mfma 16x16x16 of gfx942 and gfx950, 64 lanes, l = lane % 16, h = lane / 16. The operands are swapped: the second one here is the
// first of the instruction. A lane then has sums of one row only, and they already have the layout of an operand:
//   operands      numbers 4h to 4h + 3 of row l
//   sums          columns 4h to 4h + 3 of row l
// Units that include this header are not built for chips without matrix units (HAS_MMA in gpu.hpp is 0); other kernels do the same work
// there.
//
// Included after portable.hpp.
#pragma once

#if !HAS_MMA
#error "mma.hpp knows no matrix units of this chip: kernels_hip::has_matrix_units tells which chips have them"
#endif

namespace hipstack {

// The number type of the matrix units: the unit's own type, or the 16-bit type that f32 is split into.
#ifdef DTYPE_f16
typedef f16 Unit;
static constexpr bool IS_BF16 = false;
#else
typedef bf16 Unit;
static constexpr bool IS_BF16 = true;
#endif

static constexpr u32 GROUP = MMA_GROUP, HELD = MMA_HELD, EACH = MMA_EACH, NUMBERS = MMA_NUMBERS;
struct Fragment { u32 at[NUMBERS / 2]; };
typedef f32 Sums[HELD][EACH];

DEVICE u32 lane_of_group() { return threadIdx.x % GROUP; }
DEVICE u32 held_row(u32 h) { return ON_AMD ? threadIdx.x % 16 : lane_of_group() / 4 + 8 * h; }
DEVICE constexpr u32 column_step(u32 e) { return ON_AMD ? e : e / 2 * 8 + e % 2; } // held_column(e) - held_column(0)
DEVICE u32 held_column(u32 e) { return (ON_AMD ? lane_of_group() / 16 * EACH : lane_of_group() % 4 * 2) + column_step(e); }

// Rounds x >= 0 down to a number of the unit's type. NaN stays NaN.
DEVICE u16 truncate_one(f32 x) {
    const u32 b = bits_of(x);
    if constexpr (IS_BF16) return (u16)(b >> 16);
    if (b > 0x7f800000u) return 0x7e00u;
    const u32 normal = (b >> 13) - (112u << 10), subnormal = (u32)(x * 16777216.0f);
    return (u16)(b < (113u << 23) ? subnormal : normal > 0x7bffu ? 0x7bffu : normal);
}

// Defined by the target's header. All lanes of the group call these functions.
//   truncate_pair(low, high)   two numbers of at least 0, rounded down
//   multiply(sums, a, b)       sums[i] += a[i] b for all i
//   join_lanes(mine, join)     reduces over all lanes that share a row; each of them gets the result
//   load_rows, load_keys, load_values(to, lane, at)
//                              load an operand of 16 by 16 numbers. at(row, chunk) is the address of the eight numbers `chunk` (0 or 1) of
//                              a row. load_rows: rows of the first operand; load_keys: rows of the second; load_values: columns of v
} // namespace hipstack
#if ON_AMD
#include "mma_amd.hpp"
#elif ON_NVIDIA
#include "mma_nvidia.hpp"
#else
#include "mma_host.hpp"
#endif
namespace hipstack {

// Splits a number x >= 0 into a sum of two operands of the next product. The first is x rounded down. The second is the rest of x *
// ABOVE_ONE, which keeps it above 0 wherever x is.
static constexpr f32 ABOVE_ONE = 1.000000238418579f; // 1 + 2^-22
DEVICE void split_pair(f32 x, f32 y, u32& high, u32& low) {
    high = truncate_pair(x, y);
    low = narrow_halves<Unit>(m_fma(x, ABOVE_ONE, -widen(low_of<Unit>(high))), m_fma(y, ABOVE_ONE, -widen(high_of<Unit>(high))));
}
DEVICE void weights_of(const Sums& sums, Fragment& high, Fragment& low) {
    UNROLL
    for (u32 i = 0; i < NUMBERS / 2; i++) split_pair(sums[i % HELD][i / HELD * 2], sums[i % HELD][i / HELD * 2 + 1], high.at[i], low.at[i]);
}

// 2^x within 2 ulp. Subnormal results may be flushed to 0.
DEVICE f32 exp2_of(f32 x) {
    if constexpr (ON_NVIDIA) return quick_exp2(x);
    else return exp2f(x);
}
// The maximum; of a number and NaN, the number.
DEVICE f32 greater(f32 a, f32 b) {
    if constexpr (ON_NVIDIA) return fmaxf(a, b);
    else return b > a || a != a ? b : a;
}

} // namespace hipstack
