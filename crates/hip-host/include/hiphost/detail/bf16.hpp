// bfloat16 with HIP's names __hip_bfloat16 and __hip_bfloat162: the upper half of a float.
#pragma once

#include "rounding.hpp"
#include "small_float.hpp"

struct __hip_bfloat16_raw {
    unsigned short x;
};
struct alignas(4) __hip_bfloat162_raw {
    unsigned short x, y;
};

namespace hiphost {
template <class T>
static __forceinline__ unsigned short bfloat16_bits_of(T v) {
    if constexpr (std::is_same_v<T, float>) return bfloat16_bits(v);
    // A 64-bit integer may not fit into a double. Its high bits do, with a sticky bit for the rest.
    else if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
        const bool negative = v < 0;
        uint64_t magnitude = negative ? 0 - (uint64_t)v : (uint64_t)v;
        if (magnitude >> 53) magnitude = (magnitude & ~(uint64_t)0xfff) | ((magnitude & 0xfff) != 0 ? 0x800 : 0);
        return (unsigned short)(bfloat16_bits(to_odd_float((double)magnitude)) | (negative ? 0x8000u : 0u));
    } else return bfloat16_bits(to_odd_float((double)v));
}
}  // namespace hiphost

struct __hip_bfloat16 {
    unsigned short __x;
    __hip_bfloat16() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    __forceinline__ __hip_bfloat16(T v) : __x(hiphost::bfloat16_bits_of(v)) {}
    constexpr __hip_bfloat16(const __hip_bfloat16_raw& v) : __x(v.x) {}
    __forceinline__ operator float() const { return hiphost::bits<float>((unsigned)__x << 16); }
    __forceinline__ operator __hip_bfloat16_raw() const { return __hip_bfloat16_raw{__x}; }
};

namespace hiphost {
static __forceinline__ __hip_bfloat16 fma_once(__hip_bfloat16 a, __hip_bfloat16 b, __hip_bfloat16 c) {
    return __hip_bfloat16(fma_to_odd((double)(float)a, (double)(float)b, (double)(float)c));
}
}  // namespace hiphost

struct alignas(4) __hip_bfloat162 {
    __hip_bfloat16 x, y;
    __hip_bfloat162() = default;
    constexpr __hip_bfloat162(const __hip_bfloat16& a, const __hip_bfloat16& b) : x(a), y(b) {}
    constexpr __hip_bfloat162(const __hip_bfloat162_raw& v) : x(__hip_bfloat16_raw{v.x}), y(__hip_bfloat16_raw{v.y}) {}
    __forceinline__ operator __hip_bfloat162_raw() const { return __hip_bfloat162_raw{x.__x, y.__x}; }
    __forceinline__ operator float2() const { return float2((float)x, (float)y); }
};

HIPHOST_SMALL_FLOAT(__hip_bfloat16)
HIPHOST_SMALL_PAIR(__hip_bfloat162)
static __forceinline__ bool operator<=(const __hip_bfloat162& a, const __hip_bfloat162& b) { return a.x <= b.x && a.y <= b.y; }
static __forceinline__ bool operator>=(const __hip_bfloat162& a, const __hip_bfloat162& b) { return a.x >= b.x && a.y >= b.y; }
HIPHOST_SMALL_INTRINSICS(__hip_bfloat16, __hip_bfloat162, ||)
HIPHOST_SMALL_PARTS(__hip_bfloat16, __hip_bfloat162, bfloat16)

static __forceinline__ float __bfloat162float(__hip_bfloat16 v) { return (float)v; }
static __forceinline__ __hip_bfloat16 __float2bfloat16(float v) { return __hip_bfloat16(v); }
static __forceinline__ __hip_bfloat16 __double2bfloat16(double v) { return __hip_bfloat16(v); }
static __forceinline__ float2 __bfloat1622float2(__hip_bfloat162 v) { return v; }
static __forceinline__ __hip_bfloat162 __bfloat162bfloat162(__hip_bfloat16 v) { return __hip_bfloat162(v, v); }
static __forceinline__ __hip_bfloat162 __float22bfloat162_rn(float2 v) {
    return __hip_bfloat162(__hip_bfloat16(v.x), __hip_bfloat16(v.y));
}

#define HIPRT_ONE_BF16 __ushort_as_bfloat16((unsigned short)0x3f80u)
#define HIPRT_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x0000u)
#define HIPRT_INF_BF16 __ushort_as_bfloat16((unsigned short)0x7f80u)
#define HIPRT_MAX_NORMAL_BF16 __ushort_as_bfloat16((unsigned short)0x7f7fu)
#define HIPRT_MIN_DENORM_BF16 __ushort_as_bfloat16((unsigned short)0x0001u)
#define HIPRT_NAN_BF16 __ushort_as_bfloat16((unsigned short)0x7fffu)
#define HIPRT_NEG_ZERO_BF16 __ushort_as_bfloat16((unsigned short)0x8000u)
