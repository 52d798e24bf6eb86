//! The dtypes: number formats of 8 to 64 bits, conversions between them, and what a dtype computes with.
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

// ---- number formats ---------------------------------------------------------------------------------------------------
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;
// Floats of 16 and 8 bits are bits in memory and f32 in registers.
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct f8e4m3 { u8 bits; };

static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8, "widths of the integer types");

DEVICE u32 bits_of(f32 v) { return __float_as_uint(v); }
DEVICE u64 bits_of(f64 v) { return (u64)__double_as_longlong(v); }
DEVICE f32 from_bits(u32 v) { return __uint_as_float(v); }
DEVICE f64 from_bits(u64 v) { return __longlong_as_double((i64)v); }

// The instructions of NVIDIA for f16 and bf16 give the same bits but for those of NaN. AMD's for f16 depend on a mode register, so that
// AMD has the text below.
//
// to_f32: exact. Subnormals are shifted into place and freed of their implicit one by a subtraction, which is exact.
DEVICE f32 to_f32(bf16 v) { return from_bits((u32)v.bits << 16); }
DEVICE f32 to_f32(f16 v) {
#if ON_NVIDIA
    f32 out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(v.bits));
    return out;
#else
    const u32 magnitude = v.bits & 0x7fffu, shifted = magnitude << 13;
    const u32 special = magnitude >= 0x7c00u ? 112u << 23 : 0u;
    const u32 normal = shifted + (112u << 23) + special;
    const u32 subnormal = bits_of(from_bits(shifted + (113u << 23)) - from_bits(113u << 23));
    return from_bits((magnitude < 0x0400u ? subnormal : normal) | (v.bits & 0x8000u) << 16);
#endif
}
DEVICE f32 to_f32(f8e4m3 v) {
    const u32 magnitude = v.bits & 0x7fu, shifted = magnitude << 20;
    const u32 normal = magnitude == 0x7fu ? 0x7fc00000u : shifted + (120u << 23);
    const u32 subnormal = bits_of(from_bits(shifted + (121u << 23)) - from_bits(121u << 23));
    return from_bits((magnitude < 8u ? subnormal : normal) | (v.bits & 0x80u) << 24);
}

// from_f32: to nearest, ties to even. Adding a power of two whose last place is the smallest subnormal rounds subnormals.
DEVICE void from_f32(f32 v, bf16& out) {
#if ON_NVIDIA && __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out.bits) : "f"(v));
#else
    const u32 b = bits_of(v);
    const u32 rounded = (b + 0x7fffu + (b >> 16 & 1u)) >> 16;
    out.bits = (u16)((b & 0x7fffffffu) > 0x7f800000u ? (b >> 16 | 0x40u) : rounded);
#endif
}
DEVICE void from_f32(f32 v, f16& out) {
#if ON_NVIDIA
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out.bits) : "f"(v));
#else
    const u32 b = bits_of(v), magnitude = b & 0x7fffffffu;
    const u32 normal = (magnitude + 0x0fffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
    const u32 subnormal = bits_of(from_bits(magnitude) + 0.5f) - 0x3f000000u;
    const u32 finite = magnitude < (113u << 23) ? subnormal : normal;
    const u32 special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    out.bits = (u16)((magnitude >= (143u << 23) ? special : finite) | (b >> 16 & 0x8000u));
#endif
}
// OCP E4M3: no infinity; what is too large becomes 448 with its sign, NaN stays NaN.
DEVICE void from_f32(f32 v, f8e4m3& out) {
    const u32 b = bits_of(v), magnitude = b & 0x7fffffffu;
    const u32 normal = (magnitude + 0x7ffffu + (magnitude >> 20 & 1u) - (120u << 23)) >> 20;
    const u32 subnormal = bits_of(from_bits(magnitude) + 16384.0f) - 0x46800000u;
    const u32 finite = magnitude < (121u << 23) ? subnormal : normal;
    const u32 special = magnitude > 0x7f800000u ? 0x7fu : 0x7eu;
    out.bits = (u8)((magnitude > 0x43e00000u ? special : finite) | (b >> 24 & 0x80u));
}

// Whether words of two 16-bit floats are taken apart and put together as such: NVIDIA's instructions address halves of registers.
#if ON_NVIDIA && (defined(DTYPE_f16) || defined(DTYPE_bf16))
#if __CUDA_ARCH__ >= 800
#define HALVES 1
#endif
#endif
#ifndef HALVES
#define HALVES 0
#endif
#if HALVES
DEVICE void widen_halves(u32 word, f32& low, f32& high) {
#if defined(DTYPE_f16)
    asm("{.reg .b16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}" : "=f"(low), "=f"(high) : "r"(word));
#else
    low = from_bits(word << 16);
    high = from_bits(word & 0xffff0000u);
#endif
}
DEVICE u32 narrow_halves(f32 low, f32 high) {
    u32 word;
#if defined(DTYPE_f16)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#endif
    return word;
}
// The greater ones of two each; of NaN and a number the number, with NAN_WINS the NaN. -0 is less than +0.
template <bool LEAST, bool NAN_WINS> DEVICE u32 extreme_halves(u32 a, u32 b) {
    u32 out;
#if defined(DTYPE_f16)
#define HALF_KIND "f16x2"
#else
#define HALF_KIND "bf16x2"
#endif
    if constexpr (NAN_WINS && LEAST) asm("min.NaN." HALF_KIND " %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    else if constexpr (NAN_WINS) asm("max.NaN." HALF_KIND " %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    else asm("max." HALF_KIND " %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    return out;
}
#endif

// An f64 rounded to f32 "to odd": truncated, and the last bit set if anything was lost. Rounding that to a format with at
// least two bits less gives what rounding the f64 once would give.
DEVICE f32 to_odd_f32(f64 v) {
    const f32 nearest = (f32)v;
    const f64 back = (f64)nearest;
    const u32 b = bits_of(nearest);
    const u32 truncated = (bits_of(back) << 1) > (bits_of(v) << 1) ? b - 1u : b;
    return v != v ? nearest : from_bits(back != v ? truncated | 1u : b);
}
// An integer as f64, rounded to odd where it has more than 53 bits: the 11 low bits become one.
DEVICE f64 to_odd_f64(i64 v) {
    const u64 magnitude = v < 0 ? 0ull - (u64)v : (u64)v;
    const u64 odd = (magnitude & ~0x7ffull) | ((magnitude & 0x7ffull) != 0 ? 0x800ull : 0ull);
    const f64 out = (f64)(magnitude >> 53 != 0 ? odd : magnitude);
    return v < 0 ? -out : out;
}

// ---- what a dtype is --------------------------------------------------------------------------------------------------
// Compute: the type of its arithmetic. Wrap: the unsigned type in which integers wrap. Rank: an integer that orders it.
template <class T> struct Dtype;
template <class C, class W, class R, bool F, bool S, u32 B> struct DtypeOf {
    typedef C Compute;
    typedef W Wrap;
    typedef R Rank;
    static constexpr bool FLOAT = F, SIGNED = S;
    static constexpr u32 BITS = B;
};
template <> struct Dtype<u8> : DtypeOf<u8, u32, u32, false, false, 8> {};
template <> struct Dtype<u32> : DtypeOf<u32, u32, u32, false, false, 32> {};
template <> struct Dtype<i16> : DtypeOf<i16, u32, i32, false, true, 16> {};
template <> struct Dtype<i32> : DtypeOf<i32, u32, i32, false, true, 32> {};
template <> struct Dtype<i64> : DtypeOf<i64, u64, i64, false, true, 64> {};
template <> struct Dtype<f8e4m3> : DtypeOf<f32, u32, i32, true, true, 8> {};
template <> struct Dtype<bf16> : DtypeOf<f32, u32, i32, true, true, 16> {};
template <> struct Dtype<f16> : DtypeOf<f32, u32, i32, true, true, 16> {};
template <> struct Dtype<f32> : DtypeOf<f32, u32, i32, true, true, 32> {};
template <> struct Dtype<f64> : DtypeOf<f64, u64, i64, true, true, 64> {};

#define FOR_PLAIN_TYPES(X) X(u8) X(u32) X(i16) X(i32) X(i64) X(f32) X(f64)
#define FOR_SMALL_FLOATS(X) X(f8e4m3) X(bf16) X(f16)

// widen: storage to compute type, exact. narrow<T>: back, rounded once.
#define PLAIN(T) DEVICE T widen(T v) { return v; }
FOR_PLAIN_TYPES(PLAIN)
#undef PLAIN
#define SMALL(T) DEVICE f32 widen(T v) { return to_f32(v); }
FOR_SMALL_FLOATS(SMALL)
#undef SMALL
template <class T> DEVICE T narrow(typename Dtype<T>::Compute v) {
    if constexpr (Dtype<T>::FLOAT && sizeof(T) < 4) {
        T out;
        from_f32(v, out);
        return out;
    } else {
        return v;
    }
}

template <class I> DEVICE constexpr I greatest() {
    constexpr u64 magnitude = ~0ull >> (64 - Dtype<I>::BITS + (Dtype<I>::SIGNED ? 1 : 0));
    return (I)magnitude;
}
template <class I> DEVICE constexpr I least() { return (I)(Dtype<I>::SIGNED ? -(i64)greatest<I>() - 1 : 0); }

// Any dtype to any other. Float to integer truncates and saturates, NaN gives 0; integers wrap; floats round once.
template <class D, class S> DEVICE D convert(S v) {
    typedef typename Dtype<S>::Compute C;
    if constexpr (Dtype<D>::FLOAT && sizeof(D) == 1 && Dtype<S>::FLOAT && sizeof(S) == 1) {
        return v; // f8e4m3 has no NaN that rounding would change
    } else if constexpr (Dtype<D>::FLOAT && sizeof(D) < 4) {
        D out;
        if constexpr (Dtype<S>::FLOAT && sizeof(S) == 8) from_f32(to_odd_f32(v), out);
        else if constexpr (Dtype<S>::FLOAT || sizeof(S) < 4) from_f32((f32)widen(v), out);
        else if constexpr (sizeof(S) == 4) from_f32(to_odd_f32((f64)v), out);
        else from_f32(to_odd_f32(to_odd_f64(v)), out);
        return out;
    } else if constexpr (Dtype<D>::FLOAT || !Dtype<S>::FLOAT) {
        return (D)widen(v);
    } else {
        const C x = widen(v);
        const C end = (C)((u64)greatest<D>() / 2 + 1) * (C)2; // greatest + 1, a power of two
        if (x >= end) return greatest<D>();
        if (x <= (C)least<D>()) return least<D>();
        return x == x ? (D)x : (D)0;
    }
}

} // namespace hipstack
