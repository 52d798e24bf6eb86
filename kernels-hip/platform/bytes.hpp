//! Four bytes of a word at a time.
//
// pick_bytes: of the eight bytes of two words, those whose numbers, under 8, are in the bytes of the third.
// dot_bytes:  the sum of the products of four signed bytes each, and of a number.
//
// Included after portable.hpp.
#pragma once

namespace hipstack {

typedef signed char i8;

#if ON_NVIDIA
DEVICE u32 pick_bytes(u32 low, u32 high, u32 index) {
    const u32 pairs = index | index >> 4;
    return __byte_perm(low, high, (pairs & 0xffu) | (pairs >> 8 & 0xff00u));
}
#elif ON_AMD
DEVICE u32 pick_bytes(u32 low, u32 high, u32 index) { return __builtin_amdgcn_perm(high, low, index); }
#else
DEVICE u32 pick_bytes(u32 low, u32 high, u32 index) {
    const u64 both = (u64)high << 32 | low;
    u32 out = 0;
    for (u32 k = 0; k < 32; k += 8) out |= ((u32)(both >> (index >> k & 7u) * 8) & 0xffu) << k;
    return out;
}
#endif

#if ON_NVIDIA
DEVICE i32 dot_bytes(u32 a, u32 b, i32 sum) { return __dp4a((i32)a, (i32)b, sum); }
#elif ON_AMD && (defined(__GFX11__) || defined(__GFX12__))
DEVICE i32 dot_bytes(u32 a, u32 b, i32 sum) { return __builtin_amdgcn_sudot4(true, (i32)a, true, (i32)b, sum, false); }
#elif ON_AMD && (defined(__gfx90a__) || defined(__gfx942__) || defined(__gfx950__) || defined(__gfx1030__))
DEVICE i32 dot_bytes(u32 a, u32 b, i32 sum) { return __builtin_amdgcn_sdot4((i32)a, (i32)b, sum, false); }
#else
DEVICE i32 dot_bytes(u32 a, u32 b, i32 sum) {
    UNROLL
    for (u32 k = 0; k < 4; k++) sum += (i32)(i8)(a >> 8 * k) * (i32)(i8)(b >> 8 * k);
    return sum;
}
#endif

} // namespace hipstack
