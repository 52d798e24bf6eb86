//! Math functions with one name for f32 and f64, minimum and maximum, and integer ranks of values.
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

// Library functions with one name for f32 and f64.
#define LIBRARY(name, single, twice)                    \
    DEVICE f32 name(f32 x) { return single(x); }        \
    DEVICE f64 name(f64 x) { return twice(x); }
LIBRARY(m_abs, fabsf, ::fabs)
LIBRARY(m_sqrt, sqrtf, ::sqrt)
LIBRARY(m_exp, expf, ::exp)
LIBRARY(m_expm1, expm1f, ::expm1)
LIBRARY(m_log, logf, ::log)
LIBRARY(m_log1p, log1pf, ::log1p)
LIBRARY(m_sin, sinf, ::sin)
LIBRARY(m_cos, cosf, ::cos)
LIBRARY(m_tan, tanf, ::tan)
LIBRARY(m_tanh, tanhf, ::tanh)
LIBRARY(m_erf, erff, ::erf)
LIBRARY(m_erfc, erfcf, ::erfc)
LIBRARY(m_ceil, ceilf, ::ceil)
LIBRARY(m_floor, floorf, ::floor)
LIBRARY(m_trunc, truncf, ::trunc)
#undef LIBRARY
DEVICE f32 m_copysign(f32 x, f32 sign) { return copysignf(x, sign); }
DEVICE f64 m_copysign(f64 x, f64 sign) { return ::copysign(x, sign); }
// Rounds half away from zero. The library's round is not used: that of ROCm 5.2 adds +0 to the truncated number, which turns -0 into +0.
template <class C> DEVICE C m_round(C x) {
    const C whole = m_trunc(x);
    return whole + m_copysign(m_abs(x - whole) >= C(0.5) ? C(1) : C(0), x);
}
// C's pow. x^0 and 1^y are 1 for every NaN, including signalling ones, for which some libraries return NaN.
DEVICE f32 m_pow(f32 x, f32 y) { return x == 1.0f || y == 0.0f ? 1.0f : powf(x, y); }
DEVICE f64 m_pow(f64 x, f64 y) { return x == 1.0 || y == 0.0 ? 1.0 : ::pow(x, y); }
DEVICE f32 m_fmod(f32 x, f32 y) { return fmodf(x, y); }
DEVICE f64 m_fmod(f64 x, f64 y) { return ::fmod(x, y); }
// Always fused.
DEVICE f32 m_fma(f32 x, f32 y, f32 z) { return fmaf(x, y, z); }
DEVICE f64 m_fma(f64 x, f64 y, f64 z) { return ::fma(x, y, z); }
// x*y + z, fused where the target has the instruction, else rounded twice.
template <class C> DEVICE C multiply_add(C x, C y, C z) {
    if constexpr (HAS_FMA) return m_fma(x, y, z);
    else return x * y + z;
}

DEVICE bool is_negative(f32 v) { return bits_of(v) >> 31 != 0; }
DEVICE bool is_negative(f64 v) { return bits_of(v) >> 63 != 0; }

// NaN is propagated; -0 is less than +0.
template <class C> DEVICE C maximum(C a, C b) {
    if constexpr (Dtype<C>::FLOAT) {
        const C larger = a == b ? (is_negative(a) ? b : a) : (a > b ? a : b);
        return a != a ? a : b != b ? b : larger;
    } else {
        return a > b ? a : b;
    }
}
template <class C> DEVICE C minimum(C a, C b) {
    if constexpr (Dtype<C>::FLOAT) {
        const C smaller = a == b ? (is_negative(a) ? a : b) : (a < b ? a : b);
        return a != a ? a : b != b ? b : smaller;
    } else {
        return a < b ? a : b;
    }
}

// The rank of a value: an integer with the same order, NaN greatest, -0 below +0. LEAST reverses the order but keeps NaN greatest, so that
// every search is for the greatest rank.
template <bool LEAST, class T> DEVICE typename Dtype<T>::Rank rank_of(T v) {
    typedef typename Dtype<T>::Rank R;
    const typename Dtype<T>::Compute x = widen(v);
    if constexpr (Dtype<T>::FLOAT) {
        const R b = (R)bits_of(x);
        const R rank = b ^ ((b >> (sizeof(R) * 8 - 1)) & greatest<R>());
        return x != x ? greatest<R>() : LEAST ? ~rank : rank;
    } else {
        return LEAST ? ~(R)x : (R)x;
    }
}
template <bool LEAST, class T> DEVICE T value_of(typename Dtype<T>::Rank rank) {
    typedef typename Dtype<T>::Rank R;
    typedef typename Dtype<T>::Wrap W;
    if constexpr (Dtype<T>::FLOAT) {
        const R r = LEAST ? ~rank : rank;
        const R b = r ^ ((r >> (sizeof(R) * 8 - 1)) & greatest<R>());
        return narrow<T>(from_bits((W)(rank == greatest<R>() ? greatest<R>() : b)));
    } else {
        return (T)(LEAST ? ~rank : rank);
    }
}

} // namespace hipstack
