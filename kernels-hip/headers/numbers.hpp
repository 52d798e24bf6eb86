//! The dtypes: number formats of 8 to 64 bits, conversions between them, and their compute types.
//
// Included by portable.hpp.
#pragma once

#include "formats.hpp"
#include "conversions.hpp"

namespace hipstack {

// OCP E4M3, converted like the formats in conversions.hpp. There is no infinity: overflow saturates to ±448, NaN stays NaN.
DEVICE f32 to_f32(f8e4m3 v) {
    const u32 magnitude = v.bits & 0x7fu, shifted = magnitude << 20;
    const u32 normal = magnitude == 0x7fu ? 0x7fc00000u : shifted + (120u << 23);
    const u32 subnormal = bits_of(from_bits(shifted + (121u << 23)) - from_bits(121u << 23));
    return from_bits((magnitude < 8u ? subnormal : normal) | (v.bits & 0x80u) << 24);
}
DEVICE void from_f32(f32 v, f8e4m3& out) {
    const u32 b = bits_of(v), magnitude = b & 0x7fffffffu;
    const u32 normal = (magnitude + 0x7ffffu + (magnitude >> 20 & 1u) - (120u << 23)) >> 20;
    const u32 subnormal = bits_of(from_bits(magnitude) + 16384.0f) - 0x46800000u;
    const u32 finite = magnitude < (121u << 23) ? subnormal : normal;
    const u32 special = magnitude > 0x7f800000u ? 0x7fu : 0x7eu;
    out.bits = (u8)((magnitude > 0x43e00000u ? special : finite) | (b >> 24 & 0x80u));
}

// Rounds an f64 to f32 "to odd": truncates, and sets the last bit if the result is inexact. Rounding that to a format with at least two
// bits less gives the same result as rounding the f64 once.
DEVICE f32 to_odd_f32(f64 v) {
    const f32 nearest = (f32)v;
    const f64 back = (f64)nearest;
    const u32 b = bits_of(nearest);
    const u32 truncated = (bits_of(back) << 1) > (bits_of(v) << 1) ? b - 1u : b;
    return v != v ? nearest : from_bits(back != v ? truncated | 1u : b);
}
// Converts an integer to f64, rounded to odd if it has more than 53 bits: the low 11 bits are replaced by one sticky bit.
DEVICE f64 to_odd_f64(i64 v) {
    const u64 magnitude = v < 0 ? 0ull - (u64)v : (u64)v;
    const u64 odd = (magnitude & ~0x7ffull) | ((magnitude & 0x7ffull) != 0 ? 0x800ull : 0ull);
    const f64 out = (f64)(magnitude >> 53 != 0 ? odd : magnitude);
    return v < 0 ? -out : out;
}

// ---- properties of a dtype -------------------------------------------------------------------------------------------
// Compute: the type of its arithmetic. Wrap: the unsigned type of wrapping integer arithmetic. Rank: an integer type that orders its
// values.
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

// widen: storage type to compute type, exact. narrow<T>: compute type to storage type, rounded once.
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

// Converts between any two dtypes. Float to integer truncates and saturates, NaN gives 0. Integers wrap. Results that are floats are
// rounded once.
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
