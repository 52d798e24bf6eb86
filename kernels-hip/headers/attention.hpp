//! What the kernels of attention share: their arguments, and which head and row a block computes.
#pragma once

namespace hipstack {

// q [batch, heads, queries, d], k [batch, heads / group, keys, d], v [batch, heads / group, keys, dv], each with its four
// strides; mask strides are those of [batch, heads, queries, keys].
struct Strides {
    u64 q[4], k[4], v[4], mask[4];
};
struct AttentionArgs {
    u64 batch, heads, group, queries, keys, d, dv;
    Strides strides;
    f64 scale;
    u32 mask_kind; // 0: none, 1: u8, not 0 takes part, 2: of the dtype, added to the scores
    u32 causal;    // 1: row i attends to the keys up to i
};
SIZE(AttentionArgs, 200) OFFSET(Strides, mask, 96) OFFSET(AttentionArgs, strides, 56) OFFSET(AttentionArgs, scale, 184)
OFFSET(AttentionArgs, causal, 196)

DEVICE C minus_infinity() {
    if constexpr (sizeof(C) == 4) return from_bits(0xff800000u);
    else return from_bits(0xfff0000000000000ull);
}
DEVICE u64 least_of(u64 a, u64 b) { return a < b ? a : b; }
// What is subtracted from scores: the greatest, but no infinity where all are minus infinity.
DEVICE C shift_of(C greatest) { return greatest == minus_infinity() ? C(0) : greatest; }

// Which row and columns a block computes.
struct Work {
    u64 batch, head, row, column;
};

// The mask of one head.
DEVICE const u8* mask_of(const u8* mask, const AttentionArgs& a, const Work& w) {
    const u64 bytes = a.mask_kind == 2 ? sizeof(T) : 1;
    return mask + (w.batch * a.strides.mask[0] + w.head * a.strides.mask[1]) * bytes;
}

} // namespace hipstack
