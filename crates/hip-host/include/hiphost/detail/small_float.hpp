// Common parts of half precision and bfloat16: operands are widened to float, which has more than twice their
// bits, and each result is rounded once.
#pragma once

// Arithmetic, comparisons and functions of a type H that converts to and from float. fma_once(a, b, c) must
// be a * b + c rounded once.
#define HIPHOST_SMALL_FLOAT(H)                                                                                       \
    static __forceinline__ H operator+(H a) { return a; }                                                            \
    static __forceinline__ H operator-(H a) { return hiphost::flipped(a, 0x8000u); }                                 \
    static __forceinline__ H operator+(H a, H b) { return H((float)a + (float)b); }                                  \
    static __forceinline__ H operator-(H a, H b) { return H((float)a - (float)b); }                                  \
    static __forceinline__ H operator*(H a, H b) { return H((float)a * (float)b); }                                  \
    static __forceinline__ H operator/(H a, H b) { return H((float)a / (float)b); }                                  \
    HIPHOST_ASSIGNING(H)                                                                                             \
    static __forceinline__ H& operator++(H& a) { return a = a + H(1.0f); }                                           \
    static __forceinline__ H& operator--(H& a) { return a = a - H(1.0f); }                                           \
    static __forceinline__ H operator++(H& a, int) { const H old = a; ++a; return old; }                             \
    static __forceinline__ H operator--(H& a, int) { const H old = a; --a; return old; }                             \
    static __forceinline__ bool operator==(H a, H b) { return (float)a == (float)b; }                                \
    static __forceinline__ bool operator!=(H a, H b) { return (float)a != (float)b; }                                \
    static __forceinline__ bool operator<(H a, H b) { return (float)a < (float)b; }                                  \
    static __forceinline__ bool operator<=(H a, H b) { return (float)a <= (float)b; }                                \
    static __forceinline__ bool operator>(H a, H b) { return (float)a > (float)b; }                                  \
    static __forceinline__ bool operator>=(H a, H b) { return (float)a >= (float)b; }

#define HIPHOST_ASSIGNING(V)                                                      \
    static __forceinline__ V& operator+=(V& a, const V& b) { return a = a + b; }  \
    static __forceinline__ V& operator-=(V& a, const V& b) { return a = a - b; }  \
    static __forceinline__ V& operator*=(V& a, const V& b) { return a = a * b; }  \
    static __forceinline__ V& operator/=(V& a, const V& b) { return a = a / b; }

// The operators of pairs, except <= and >=. A comparison is true if it is true for both components.
#define HIPHOST_SMALL_PAIR(V)                                                                              \
    static __forceinline__ V operator+(const V& a) { return a; }                                           \
    static __forceinline__ V operator-(const V& a) { return V(-a.x, -a.y); }                               \
    static __forceinline__ V operator+(const V& a, const V& b) { return V(a.x + b.x, a.y + b.y); }         \
    static __forceinline__ V operator-(const V& a, const V& b) { return V(a.x - b.x, a.y - b.y); }         \
    static __forceinline__ V operator*(const V& a, const V& b) { return V(a.x * b.x, a.y * b.y); }         \
    static __forceinline__ V operator/(const V& a, const V& b) { return V(a.x / b.x, a.y / b.y); }         \
    HIPHOST_ASSIGNING(V)                                                                                   \
    static __forceinline__ V& operator++(V& a) { ++a.x; ++a.y; return a; }                                 \
    static __forceinline__ V& operator--(V& a) { --a.x; --a.y; return a; }                                 \
    static __forceinline__ V operator++(V& a, int) { const V old = a; ++a; return old; }                   \
    static __forceinline__ V operator--(V& a, int) { const V old = a; --a; return old; }                   \
    static __forceinline__ bool operator==(const V& a, const V& b) { return a.x == b.x && a.y == b.y; }    \
    static __forceinline__ bool operator!=(const V& a, const V& b) { return !(a == b); }                  \
    static __forceinline__ bool operator<(const V& a, const V& b) { return a.x < b.x && a.y < b.y; }       \
    static __forceinline__ bool operator>(const V& a, const V& b) { return a.x > b.x && a.y > b.y; }

// Intrinsics and their forms for pairs: of one operand, of two, and comparisons. The forms with a u are also
// true for a NaN.
#define HIPHOST_SMALL_1(H, V, name, pair, value)                                          \
    static __forceinline__ H name(H a) { return value; }                                  \
    static __forceinline__ V pair(V a) { return V(name(a.x), name(a.y)); }
#define HIPHOST_SMALL_2(H, V, name, pair, value)                                          \
    static __forceinline__ H name(H a, H b) { return value; }                             \
    static __forceinline__ V pair(V a, V b) { return V(name(a.x, b.x), name(a.y, b.y)); }
#define HIPHOST_SMALL_COMPARE(H, V, name, ordered, unordered, both)                                                 \
    static __forceinline__ bool __h##name(H a, H b) { return ordered; }                                             \
    static __forceinline__ bool __h##name##u(H a, H b) { return unordered; }                                        \
    static __forceinline__ V __h##name##2(V a, V b) { return V(H((float)__h##name(a.x, b.x)), H((float)__h##name(a.y, b.y))); }        \
    static __forceinline__ V __h##name##u2(V a, V b) { return V(H((float)__h##name##u(a.x, b.x)), H((float)__h##name##u(a.y, b.y))); } \
    static __forceinline__ bool __hb##name##2(V a, V b) { return __h##name(a.x, b.x) both __h##name(a.y, b.y); }     \
    static __forceinline__ bool __hb##name##u2(V a, V b) { return __h##name##u(a.x, b.x) both __h##name##u(a.y, b.y); }
#define HIPHOST_SMALL_FUNCTION(H, V, name, value) HIPHOST_SMALL_1(H, V, h##name, h2##name, H(value))

// `differ` is && or ||: when __hbne2 calls a pair different.
#define HIPHOST_SMALL_INTRINSICS(H, V, differ)                                                            \
    HIPHOST_SMALL_2(H, V, __hadd, __hadd2, a + b)                                                         \
    HIPHOST_SMALL_2(H, V, __hsub, __hsub2, a - b)                                                         \
    HIPHOST_SMALL_2(H, V, __hmul, __hmul2, a * b)                                                         \
    HIPHOST_SMALL_2(H, V, __hdiv, __h2div, a / b)                                                         \
    HIPHOST_SMALL_2(H, V, __hadd_sat, __hadd2_sat, H(__saturatef((float)a + (float)b)))                   \
    HIPHOST_SMALL_2(H, V, __hsub_sat, __hsub2_sat, H(__saturatef((float)a - (float)b)))                   \
    HIPHOST_SMALL_2(H, V, __hmul_sat, __hmul2_sat, H(__saturatef((float)a * (float)b)))                   \
    HIPHOST_SMALL_2(H, V, __hmax, __hmax2, H(fmaxf((float)a, (float)b)))                                  \
    HIPHOST_SMALL_2(H, V, __hmin, __hmin2, H(fminf((float)a, (float)b)))                                  \
    HIPHOST_SMALL_2(H, V, __hmax_nan, __hmax2_nan, a != a ? a : b != b ? b : __hmax(a, b))                \
    HIPHOST_SMALL_2(H, V, __hmin_nan, __hmin2_nan, a != a ? a : b != b ? b : __hmin(a, b))                \
    HIPHOST_SMALL_1(H, V, __hneg, __hneg2, -a)                                                            \
    HIPHOST_SMALL_1(H, V, __habs, __habs2, hiphost::flipped(a, hiphost::bits<unsigned short>(a) & 0x8000u)) \
    static __forceinline__ H __hfma(H a, H b, H c) { return hiphost::fma_once(a, b, c); }                 \
    static __forceinline__ H __hfma_sat(H a, H b, H c) { return H(__saturatef((float)__hfma(a, b, c))); } \
    static __forceinline__ V __hfma2(V a, V b, V c) { return V(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y)); }             \
    static __forceinline__ V __hfma2_sat(V a, V b, V c) { return V(__hfma_sat(a.x, b.x, c.x), __hfma_sat(a.y, b.y, c.y)); } \
    HIPHOST_SMALL_COMPARE(H, V, eq, a == b, !(a < b) && !(a > b), &&)                                     \
    HIPHOST_SMALL_COMPARE(H, V, ne, a != b, a != b, differ)                                               \
    HIPHOST_SMALL_COMPARE(H, V, lt, a < b, !(a >= b), &&)                                                 \
    HIPHOST_SMALL_COMPARE(H, V, le, a <= b, !(a > b), &&)                                                 \
    HIPHOST_SMALL_COMPARE(H, V, gt, a > b, !(a <= b), &&)                                                 \
    HIPHOST_SMALL_COMPARE(H, V, ge, a >= b, !(a < b), &&)                                                 \
    static __forceinline__ bool __hisnan(H a) { return a != a; }                                          \
    static __forceinline__ int __hisinf(H a) { return a == a && !((float)a - (float)a == 0.0f); }         \
    static __forceinline__ V __hisinf2(V a) { return V(H((float)__hisinf(a.x)), H((float)__hisinf(a.y))); } \
    static __forceinline__ V __hisnan2(V a) { return V(H((float)__hisnan(a.x)), H((float)__hisnan(a.y))); } \
    HIPHOST_SMALL_FUNCTION(H, V, ceil, ceilf((float)a))                                                   \
    HIPHOST_SMALL_FUNCTION(H, V, cos, cosf((float)a))                                                     \
    HIPHOST_SMALL_FUNCTION(H, V, exp, expf((float)a))                                                     \
    HIPHOST_SMALL_FUNCTION(H, V, exp10, powf(10.0f, (float)a))                                            \
    HIPHOST_SMALL_FUNCTION(H, V, exp2, exp2f((float)a))                                                   \
    HIPHOST_SMALL_FUNCTION(H, V, floor, floorf((float)a))                                                 \
    HIPHOST_SMALL_FUNCTION(H, V, log, logf((float)a))                                                     \
    HIPHOST_SMALL_FUNCTION(H, V, log10, log10f((float)a))                                                 \
    HIPHOST_SMALL_FUNCTION(H, V, log2, log2f((float)a))                                                   \
    HIPHOST_SMALL_FUNCTION(H, V, rcp, 1.0f / (float)a)                                                    \
    HIPHOST_SMALL_FUNCTION(H, V, rint, rintf((float)a))                                                   \
    HIPHOST_SMALL_FUNCTION(H, V, rsqrt, 1.0 / sqrt((double)(float)a))                                     \
    HIPHOST_SMALL_FUNCTION(H, V, sin, sinf((float)a))                                                     \
    HIPHOST_SMALL_FUNCTION(H, V, sqrt, sqrtf((float)a))                                                   \
    HIPHOST_SMALL_FUNCTION(H, V, tanh, tanhf((float)a))                                                   \
    HIPHOST_SMALL_FUNCTION(H, V, trunc, truncf((float)a))

// Parts of pairs, and pairs of parts. `name` is half or bfloat16, `s` its plural.
#define HIPHOST_SMALL_PARTS(H, V, name)                                                              \
    static __forceinline__ H __low2##name(V v) { return v.x; }                                       \
    static __forceinline__ H __high2##name(V v) { return v.y; }                                      \
    static __forceinline__ V __low2##name##2(V v) { return V(v.x, v.x); }                            \
    static __forceinline__ V __high2##name##2(V v) { return V(v.y, v.y); }                           \
    static __forceinline__ V __lows2##name##2(V a, V b) { return V(a.x, b.x); }                      \
    static __forceinline__ V __highs2##name##2(V a, V b) { return V(a.y, b.y); }                     \
    static __forceinline__ V __halves2##name##2(H a, H b) { return V(a, b); }                        \
    static __forceinline__ V __lowhigh2highlow(V v) { return V(v.y, v.x); }                          \
    static __forceinline__ float __low2float(V v) { return (float)v.x; }                             \
    static __forceinline__ float __high2float(V v) { return (float)v.y; }                            \
    static __forceinline__ short __##name##_as_short(H v) { return hiphost::bits<short>(v); }        \
    static __forceinline__ unsigned short __##name##_as_ushort(H v) { return hiphost::bits<unsigned short>(v); } \
    static __forceinline__ H __short_as_##name(short v) { return hiphost::bits<H>(v); }              \
    static __forceinline__ H __ushort_as_##name(unsigned short v) { return hiphost::bits<H>(v); }

namespace hiphost {
// A value with the bits of the mask inverted.
template <class H>
static __forceinline__ H flipped(H v, unsigned mask) {
    return bits<H>((unsigned short)(bits<unsigned short>(v) ^ mask));
}
}  // namespace hiphost
