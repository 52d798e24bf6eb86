// Half precision from the compiler's own 16-bit type.
#pragma once

#include "small_float.hpp"

namespace hiphost {
#if defined(__aarch64__) && !defined(__clang__)
typedef __fp16 f16;
#elif defined(__FLT16_MANT_DIG__)
typedef _Float16 f16;
#else
#error "half precision needs a compiler with _Float16: GCC 12 or Clang 15, or newer"
#endif
}  // namespace hiphost

struct __half_raw {
    union {
        hiphost::f16 data;
        unsigned short x;
    };
};
struct __half2_raw {
    __half_raw x, y;
};

struct __half {
    hiphost::f16 data;
    __half() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    __forceinline__ __half(T v) : data((hiphost::f16)v) {}
    __forceinline__ __half(const hiphost::f16& v) : data(v) {}
    __forceinline__ __half(const __half_raw& v) : data(v.data) {}
    __forceinline__ operator float() const { return (float)data; }
    __forceinline__ operator __half_raw() const { return hiphost::bits<__half_raw>(data); }
};
typedef __half half;

namespace hiphost {
// A double holds the product exactly and the sum with enough extra bits, so this rounds once.
static __forceinline__ __half fma_once(__half a, __half b, __half c) {
    return __half((double)(float)a * (double)(float)b + (double)(float)c);
}
}  // namespace hiphost

struct alignas(4) __half2 {
    __half x, y;
    __half2() = default;
    __forceinline__ __half2(const __half& a, const __half& b) : x(a), y(b) {}
    __forceinline__ __half2(const __half2_raw& v) : x(v.x), y(v.y) {}
    // A number is converted to a pair of it.
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    __forceinline__ __half2(T v) : x(v), y(v) {}
    __forceinline__ operator __half2_raw() const { return hiphost::bits<__half2_raw>(*this); }
};
typedef __half2 half2;

HIPHOST_SMALL_FLOAT(__half)
HIPHOST_SMALL_PAIR(__half2)
// For halves, as with AMD's headers, <= is true if > is false in both components.
static __forceinline__ bool operator<=(const __half2& a, const __half2& b) { return !(b < a); }
static __forceinline__ bool operator>=(const __half2& a, const __half2& b) { return !(a < b); }
HIPHOST_SMALL_INTRINSICS(__half, __half2, &&)
HIPHOST_SMALL_PARTS(__half, __half2, half)

namespace hiphost {
// Rounds a number down, up or towards zero: takes the nearest one, or its neighbour.
static __forceinline__ __half half_towards(double v, Towards towards) {
    const __half nearest(v);
    const double found = (float)nearest;
    if (!(v - v == 0.0) || found == v) return nearest;
    const bool down = towards == Towards::down || (towards == Towards::zero && v > 0);
    if (down ? found < v : found > v) return nearest;
    const unsigned short u = bits<unsigned short>(nearest), magnitude = u & 0x7fffu;
    // Across zero, the neighbour is the smallest number of the other sign.
    if (magnitude == 0) return bits<__half>((unsigned short)(down ? 0x8001u : 1u));
    return bits<__half>((unsigned short)(down == (u >> 15 != 0) ? u + 1 : u - 1));
}
}  // namespace hiphost

static __forceinline__ __half __float2half(float v) { return __half(v); }
static __forceinline__ __half __float2half_rn(float v) { return __half(v); }
static __forceinline__ __half __float2half_rz(float v) { return hiphost::half_towards(v, hiphost::Towards::zero); }
static __forceinline__ __half __float2half_rd(float v) { return hiphost::half_towards(v, hiphost::Towards::down); }
static __forceinline__ __half __float2half_ru(float v) { return hiphost::half_towards(v, hiphost::Towards::up); }
static __forceinline__ __half __double2half(double v) { return __half(v); }
static __forceinline__ float __half2float(__half v) { return (float)v; }

// Conversions to integers: to nearest, towards zero, down, up.
#define HIPHOST_HALF_INTEGER(name, T)                                                                                        \
    static __forceinline__ T __half2##name##_rn(__half v) { return (T)rintf((float)v); }                                     \
    static __forceinline__ T __half2##name##_rz(__half v) { return (T)(float)v; }                                            \
    static __forceinline__ T __half2##name##_rd(__half v) { return (T)floorf((float)v); }                                    \
    static __forceinline__ T __half2##name##_ru(__half v) { return (T)ceilf((float)v); }                                     \
    static __forceinline__ __half __##name##2half_rn(T v) { return __half(v); }                                              \
    static __forceinline__ __half __##name##2half_rz(T v) { return hiphost::half_towards((double)v, hiphost::Towards::zero); } \
    static __forceinline__ __half __##name##2half_rd(T v) { return hiphost::half_towards((double)v, hiphost::Towards::down); } \
    static __forceinline__ __half __##name##2half_ru(T v) { return hiphost::half_towards((double)v, hiphost::Towards::up); }
HIPHOST_HALF_INTEGER(int, int)
HIPHOST_HALF_INTEGER(uint, unsigned)
HIPHOST_HALF_INTEGER(short, short)
HIPHOST_HALF_INTEGER(ushort, unsigned short)
HIPHOST_HALF_INTEGER(ll, long long)
HIPHOST_HALF_INTEGER(ull, unsigned long long)
#undef HIPHOST_HALF_INTEGER

static __forceinline__ __half2 make_half2(__half a, __half b) { return __half2(a, b); }
static __forceinline__ __half2 __half2half2(__half a) { return __half2(a, a); }
static __forceinline__ __half2 __float2half2_rn(float a) { return __half2(__half(a), __half(a)); }
static __forceinline__ __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
static __forceinline__ __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
static __forceinline__ float2 __half22float2(__half2 v) { return make_float2((float)v.x, (float)v.y); }

static __forceinline__ __half __clamp_01(__half v) { return __half(__saturatef((float)v)); }
// Loads with a cache hint, which a CPU ignores.
static __forceinline__ __half __ldcg(const __half* p) { return *p; }
static __forceinline__ __half __ldca(const __half* p) { return *p; }
static __forceinline__ __half __ldcs(const __half* p) { return *p; }
static __forceinline__ __half2 __ldcg(const __half2* p) { return *p; }
static __forceinline__ __half2 __ldca(const __half2* p) { return *p; }
static __forceinline__ __half2 __ldcs(const __half2* p) { return *p; }

// AMD's sum of two products and c. A float never needs saturation.
static __forceinline__ float amd_mixed_dot(__half2 a, __half2 b, float c, bool) {
    return fmaf((float)a.x, (float)b.x, fmaf((float)a.y, (float)b.y, c));
}
