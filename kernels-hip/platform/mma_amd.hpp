//! AMD's matrix units: mfma 16x16x16 of gfx942 and gfx950. mma.hpp documents the functions.
//
// Included by mma.hpp.
#pragma once

namespace hipstack {

DEVICE u32 truncate_pair(f32 low, f32 high) {
    if constexpr (IS_BF16) return join_halves(truncate_one(low), truncate_one(high));
    // Subnormals may be flushed to 0. The second operand of split_pair then has the rest.
    const auto both = __builtin_amdgcn_cvt_pkrtz(low, high);
    u32 out;
    __builtin_memcpy(&out, &both, sizeof(out));
    return out;
}

// The operands are swapped, so that a lane has sums of one row only.
template <class Out> DEVICE Out multiply_one(const Fragment& b, const Fragment& a, Out out) {
    typedef _Float16 Halves __attribute__((ext_vector_type(NUMBERS)));
    typedef short Brains __attribute__((ext_vector_type(NUMBERS)));
    Halves hb, ha;
    Brains bb, ba;
    __builtin_memcpy(&hb, b.at, sizeof(b)), __builtin_memcpy(&ha, a.at, sizeof(a));
    __builtin_memcpy(&bb, b.at, sizeof(b)), __builtin_memcpy(&ba, a.at, sizeof(a));
    if constexpr (IS_BF16) return __builtin_amdgcn_mfma_f32_16x16x16bf16_1k(bb, ba, out, 0, 0, 0);
    else return __builtin_amdgcn_mfma_f32_16x16x16f16(hb, ha, out, 0, 0, 0);
}
template <u32 ROWS> DEVICE void multiply(Sums (&sums)[ROWS], const Fragment (&a)[ROWS], const Fragment& b) {
    typedef f32 Out __attribute__((ext_vector_type(EACH)));
    UNROLL
    for (u32 i = 0; i < ROWS; i++) {
        Out out;
        UNROLL
        for (u32 e = 0; e < EACH; e++) out[e] = sums[i][0][e];
        out = multiply_one(b, a[i], out);
        UNROLL
        for (u32 e = 0; e < EACH; e++) sums[i][0][e] = out[e];
    }
}

template <class Join> DEVICE f32 join_lanes(f32 mine, Join join) {
    const f32 two = join(mine, shuffle_xor(mine, 16));
    return join(two, __shfl_xor(two, 32, 64));
}

template <class At> DEVICE void load_rows(Fragment& to, u32 lane, At at) {
    const u32 first = lane / 16 * NUMBERS;
    const Pack<Unit, NUMBERS> pack = load_pack<NUMBERS>(at(lane % 16, first / 8) + first % 8);
    UNROLL
    for (u32 i = 0; i < NUMBERS; i += 2) to.at[i / 2] = join_halves(pack.at[i].bits, pack.at[i + 1].bits);
}
template <class At> DEVICE void load_keys(Fragment& to, u32 lane, At at) { load_rows(to, lane, at); }
template <class At> DEVICE void load_values(Fragment& to, u32 lane, At at) {
    const u32 first = lane / 16 * NUMBERS, column = lane % 16;
    UNROLL
    for (u32 n = 0; n < NUMBERS; n += 2)
        to.at[n / 2] = join_halves(at(first + n, column / 8)[column % 8].bits, at(first + n + 1, column / 8)[column % 8].bits);
}

} // namespace hipstack
