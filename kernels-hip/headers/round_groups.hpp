//! Activations as signed bytes with a scale for each 32 of them, for products with quantized matrices.
//
// Included after portable.hpp.
#pragma once
#include "bytes.hpp"

namespace hipstack {

// Bytes, then at byte `scales` a scale for each 32 of them, then at byte `sums` what each 16 of them stand for, summed.
struct RoundedRows {
    u8* bytes;
    u64 scales, sums;
};

// Rounds 32 numbers, of which each of LANES lanes gives some: `own` is the lane's number among these. Nothing is written unless `there`. All
// lanes of a wave must call this.
template <u32 LANES> DEVICE void round_group(const f32 (&x)[32 / LANES], u64 group, u32 own, bool there, const RoundedRows& to) {
    constexpr u32 OWN = 32 / LANES;
    // Magnitudes are compared as bits: there NaN is the largest, and becomes the scale.
    u32 largest = 0;
    UNROLL
    for (u32 i = 0; i < OWN; i++) {
        const u32 magnitude = bits_of(x[i]) & 0x7fffffffu;
        largest = magnitude > largest ? magnitude : largest;
    }
    UNROLL
    for (u32 mask = LANES / 2; mask > 0; mask >>= 1) {
        const u32 other = shuffle_xor(largest, mask);
        largest = other > largest ? other : largest;
    }
    const f32 scale = from_bits(largest) / 127.0f, inverse = scale != 0.0f ? 1.0f / scale : 0.0f;
    u32 words[OWN / 4];
    i32 sum[2] = {0, 0}; // of each half, or of the lane's own half
    UNROLL
    for (u32 w = 0; w < OWN / 4; w++) {
        words[w] = 0;
        UNROLL
        for (u32 i = 0; i < 4; i++) {
            // As a conversion that saturates: NaN, of infinity or beside it, becomes 0. Behind the addition the number's lowest byte is the
            // nearest integer's.
            const f32 v = x[4 * w + i] * inverse, near = v > 127.0f ? 127.0f : v >= -127.0f ? v : v < -127.0f ? -127.0f : 0.0f;
            words[w] |= (bits_of(near + 12582912.0f) & 0xffu) << 8 * i;
        }
        sum[w / 4] = dot_bytes(words[w], 0x01010101u, sum[w / 4]);
    }
    if constexpr (LANES > 1) {
        sum[0] += shuffle_xor(sum[0], 1);
        sum[0] += shuffle_xor(sum[0], 2);
    }
    if (!there) return;
    u32* const bytes = (u32*)to.bytes;
    UNROLL
    for (u32 w = 0; w < OWN / 4; w++) bytes[group * 8 + own * (OWN / 4) + w] = words[w];
    if (own == 0) ((f32*)(to.bytes + to.scales))[group] = scale;
    f32* const sums = (f32*)(to.bytes + to.sums);
    UNROLL
    for (u32 half = 0; half < (LANES > 1 ? 1 : 2); half++)
        if (own % 4 == 0) sums[group * 2 + own / 4 + half] = scale * (f32)sum[half];
}

} // namespace hipstack
