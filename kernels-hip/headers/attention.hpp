//! Arguments and helpers that the attention kernels share.
#pragma once

namespace hipstack {

// q [batch, heads, queries, d], k [batch, heads / group, keys, d], v [batch, heads / group, keys, dv], each with four strides. Mask strides
// are those of [batch, heads, queries, keys].
struct Strides {
    u64 q[4], k[4], v[4], mask[4];
};
struct AttentionArgs {
    u64 batch, heads, group, queries, keys, d, dv;
    Strides strides;
    f64 scale;
    u32 mask_kind; // 0: no mask; 1: u8, nonzero takes part; 2: the unit's dtype, added to the scores
    u32 causal;    // 1: row i attends to keys 0 to i
};
SIZE(AttentionArgs, 200) OFFSET(Strides, mask, 96) OFFSET(AttentionArgs, strides, 56) OFFSET(AttentionArgs, scale, 184)
OFFSET(AttentionArgs, causal, 196)

DEVICE C minus_infinity() {
    if constexpr (sizeof(C) == 4) return from_bits(0xff800000u);
    else return from_bits(0xfff0000000000000ull);
}
DEVICE u64 least_of(u64 a, u64 b) { return a < b ? a : b; }
// The maximum that is subtracted from scores; 0 if all scores are minus infinity, because inf - inf would be NaN.
DEVICE C shift_of(C greatest) { return greatest == minus_infinity() ? C(0) : greatest; }

// The row and columns that a block computes.
struct Work {
    u64 batch, head, row, column;
};

DEVICE const u8* mask_of(const u8* mask, const AttentionArgs& a, const Work& w) {
    const u64 bytes = a.mask_kind == 2 ? sizeof(T) : 1;
    return mask + (w.batch * a.strides.mask[0] + w.head * a.strides.mask[1]) * bytes;
}

} // namespace hipstack
