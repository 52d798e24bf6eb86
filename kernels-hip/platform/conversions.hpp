//! Conversions of 16-bit floats from and to f32.
//
// to_f32 is exact. from_f32 rounds to nearest, ties to even.
//
// NVIDIA's conversion instructions give the same bits, except for NaN payloads. The result of AMD's f16 instructions depends on the mode
// register, so AMD uses the same code as the host. Included by numbers.hpp.
#pragma once

namespace hipstack {

DEVICE f32 to_f32(bf16 v) { return from_bits((u32)v.bits << 16); }
#if ON_NVIDIA
DEVICE f32 to_f32(f16 v) {
    f32 out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(v.bits));
    return out;
}
DEVICE void from_f32(f32 v, f16& out) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out.bits) : "f"(v)); }
#else
// A subnormal is shifted into place with an implicit one, which an exact subtraction then removes.
DEVICE f32 to_f32(f16 v) {
    const u32 magnitude = v.bits & 0x7fffu, shifted = magnitude << 13;
    const u32 special = magnitude >= 0x7c00u ? 112u << 23 : 0u;
    const u32 normal = shifted + (112u << 23) + special;
    const u32 subnormal = bits_of(from_bits(shifted + (113u << 23)) - from_bits(113u << 23));
    return from_bits((magnitude < 0x0400u ? subnormal : normal) | (v.bits & 0x8000u) << 16);
}
// The ulp of 0.5f is the smallest subnormal of f16, so adding 0.5f rounds a subnormal result.
DEVICE void from_f32(f32 v, f16& out) {
    const u32 b = bits_of(v), magnitude = b & 0x7fffffffu;
    const u32 normal = (magnitude + 0x0fffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
    const u32 subnormal = bits_of(from_bits(magnitude) + 0.5f) - 0x3f000000u;
    const u32 finite = magnitude < (113u << 23) ? subnormal : normal;
    const u32 special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    out.bits = (u16)((magnitude >= (143u << 23) ? special : finite) | (b >> 16 & 0x8000u));
}
#endif
#if ON_NVIDIA && __CUDA_ARCH__ >= 800
DEVICE void from_f32(f32 v, bf16& out) { asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out.bits) : "f"(v)); }
#else
DEVICE void from_f32(f32 v, bf16& out) {
    const u32 b = bits_of(v);
    const u32 rounded = (b + 0x7fffu + (b >> 16 & 1u)) >> 16;
    out.bits = (u16)((b & 0x7fffffffu) > 0x7f800000u ? (b >> 16 | 0x40u) : rounded);
}
#endif

} // namespace hipstack
