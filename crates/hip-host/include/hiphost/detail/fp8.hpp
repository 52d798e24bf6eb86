// 8-bit floats with 4 or 5 bits of exponent, in the Open Compute Project's formats or, with _fnuz, in the
// formats of AMD's first hardware.
#pragma once

#include <climits>
#include <limits>

#include "bf16.hpp"
#include "half.hpp"

#define HIP_FP8_TYPE_OCP 1
#define HIP_FP8_TYPE_FNUZ 1

enum __hip_fp8_interpretation_t {
    __HIP_E4M3 = 0,      // largest 448, no infinity, 0x7f and 0xff are NaN
    __HIP_E5M2 = 1,      // largest 57344, infinity and NaN as in half precision
    __HIP_E4M3_FNUZ = 2, // largest 240, no infinity, no -0: 0x80 is the one NaN
    __HIP_E5M2_FNUZ = 3, // largest 57344, no infinity, no -0: 0x80 is the one NaN
};
enum __hip_saturation_t {
    __HIP_NOSAT = 0,     // overflow gives infinity, or NaN if the format has none
    __HIP_SATFINITE = 1, // overflow gives the largest number
};
typedef unsigned char __hip_fp8_storage_t;
typedef unsigned short __hip_fp8x2_storage_t;
typedef unsigned __hip_fp8x4_storage_t;

namespace hiphost {
// The parameters of a format.
struct Fp8Format {
    bool wide, fnuz;
    int mantissa, bias;
    constexpr Fp8Format(__hip_fp8_interpretation_t i)
        : wide(i == __HIP_E5M2 || i == __HIP_E5M2_FNUZ), fnuz(i == __HIP_E4M3_FNUZ || i == __HIP_E5M2_FNUZ),
          mantissa(wide ? 2 : 3), bias((wide ? 15 : 7) + fnuz) {}
};

static __forceinline__ float fp8_value(__hip_fp8_storage_t x, __hip_fp8_interpretation_t interpretation) {
    const Fp8Format format(interpretation);
    const int magnitude = x & 0x7f, high = magnitude >> format.mantissa, low = magnitude & ((1 << format.mantissa) - 1);
    const float sign = x & 0x80 ? -1.0f : 1.0f;
    if (format.fnuz ? x == 0x80 : magnitude > (format.wide ? 0x7c : 0x7e)) return __int_as_float(0x7fc00000);
    if (!format.fnuz && format.wide && magnitude == 0x7c) return sign * __int_as_float(0x7f800000);
    // A whole number of units in the last place, which are powers of two.
    const int units = high ? low + (1 << format.mantissa) : low, exponent = (high ? high : 1) - format.bias - format.mantissa;
    return sign * (float)units * __int_as_float((127 + exponent) << 23);
}

// Rounds to nearest, ties to even, in one step.
static __forceinline__ __hip_fp8_storage_t fp8_bits(double v, __hip_saturation_t saturation,
                                                    __hip_fp8_interpretation_t interpretation) {
    const Fp8Format format(interpretation);
    const uint64_t u = bits<uint64_t>(v);
    const int sign = (int)(u >> 63) << 7;
    if (v != v) return (__hip_fp8_storage_t)(format.fnuz ? 0x80 : sign | 0x7f);
    const int largest = format.fnuz ? 0x7f : format.wide ? 0x7b : 0x7e;
    const int beyond = saturation == __HIP_SATFINITE ? sign | largest : format.fnuz ? 0x80 : sign | (format.wide ? 0x7c : 0x7f);
    const double magnitude = bits<double>(u & ~(1ull << 63));
    if (magnitude > 1e6) return (__hip_fp8_storage_t)beyond;
    // The unit is that of the value's exponent or, for subnormal numbers, of the smallest normal one.
    int exponent = (int)(u >> 52 & 0x7ff) - 1023;
    if (exponent < 1 - format.bias) exponent = 1 - format.bias;
    const double units = rint(magnitude * bits<double>((uint64_t)(1023 + format.mantissa - exponent) << 52));
    // A carry out of the mantissa increments the exponent.
    const int code = ((exponent + format.bias - 1) << format.mantissa) + (int)units;
    if (code > largest) return (__hip_fp8_storage_t)beyond;
    return (__hip_fp8_storage_t)(code == 0 && format.fnuz ? 0 : sign | code);
}

// Converts to an integer of type T: truncated and clamped to T's range; 0 for a NaN.
template <class T>
static __forceinline__ T fp8_integer(float v) {
    if constexpr (std::is_same_v<T, bool>) return v != 0.0f;
    if (v != v) return 0;
    if (v <= (float)std::numeric_limits<T>::min()) return std::numeric_limits<T>::min();
    if (v >= (float)std::numeric_limits<T>::max()) return std::numeric_limits<T>::max();
    return (T)v;
}

// One, two or four numbers with their conversions; the lowest byte is the first.
template <__hip_fp8_interpretation_t I>
struct Fp8 {
    static constexpr __hip_saturation_t __default_saturation = __HIP_SATFINITE;
    static constexpr __hip_fp8_interpretation_t __default_interpret = I;
    static constexpr unsigned __we = Fp8Format(I).wide ? 5 : 4;
    static constexpr unsigned __wm = Fp8Format(I).wide ? 2 : 3;
    static __forceinline__ unsigned from(double v) { return fp8_bits(v, __default_saturation, I); }
    static __forceinline__ float part(unsigned all, int number) { return fp8_value((__hip_fp8_storage_t)(all >> 8 * number), I); }
};
template <__hip_fp8_interpretation_t I>
struct Fp8x1 : Fp8<I> {
    __hip_fp8_storage_t __x;
    Fp8x1() = default;
    template <class T, class = std::enable_if_t<std::is_arithmetic_v<T>>>
    __forceinline__ Fp8x1(T v) : __x((__hip_fp8_storage_t)Fp8<I>::from((double)v)) {}
    __forceinline__ Fp8x1(__half v) : Fp8x1((float)v) {}
    __forceinline__ Fp8x1(__hip_bfloat16 v) : Fp8x1((float)v) {}
    __forceinline__ operator float() const { return fp8_value(__x, I); }
    __forceinline__ operator double() const { return fp8_value(__x, I); }
    __forceinline__ operator __half() const { return __half(fp8_value(__x, I)); }
    __forceinline__ operator __hip_bfloat16() const { return __hip_bfloat16(fp8_value(__x, I)); }
    template <class T, class = std::enable_if_t<std::is_integral_v<T>>>
    __forceinline__ operator T() const { return fp8_integer<T>(fp8_value(__x, I)); }
};
template <__hip_fp8_interpretation_t I>
struct Fp8x2 : Fp8<I> {
    __hip_fp8x2_storage_t __x;
    Fp8x2() = default;
    __forceinline__ Fp8x2(double2 v) : __x((__hip_fp8x2_storage_t)(Fp8<I>::from(v.x) | Fp8<I>::from(v.y) << 8)) {}
    __forceinline__ Fp8x2(float2 v) : Fp8x2(double2(v.x, v.y)) {}
    __forceinline__ Fp8x2(__half2 v) : Fp8x2(double2((float)v.x, (float)v.y)) {}
    __forceinline__ Fp8x2(__hip_bfloat162 v) : Fp8x2(double2((float)v.x, (float)v.y)) {}
    __forceinline__ operator float2() const { return float2(Fp8<I>::part(__x, 0), Fp8<I>::part(__x, 1)); }
    __forceinline__ operator __half2() const { return __half2(Fp8<I>::part(__x, 0), Fp8<I>::part(__x, 1)); }
    __forceinline__ operator __hip_bfloat162() const { return __hip_bfloat162(Fp8<I>::part(__x, 0), Fp8<I>::part(__x, 1)); }
};
template <__hip_fp8_interpretation_t I>
struct Fp8x4 : Fp8<I> {
    __hip_fp8x4_storage_t __x;
    Fp8x4() = default;
    __forceinline__ Fp8x4(double4 v)
        : __x(Fp8<I>::from(v.x) | Fp8<I>::from(v.y) << 8 | Fp8<I>::from(v.z) << 16 | Fp8<I>::from(v.w) << 24) {}
    __forceinline__ Fp8x4(float4 v) : Fp8x4(double4(v.x, v.y, v.z, v.w)) {}
    __forceinline__ Fp8x4(__half2 low, __half2 high)
        : Fp8x4(double4((float)low.x, (float)low.y, (float)high.x, (float)high.y)) {}
    __forceinline__ Fp8x4(__hip_bfloat162 low, __hip_bfloat162 high)
        : Fp8x4(double4((float)low.x, (float)low.y, (float)high.x, (float)high.y)) {}
    __forceinline__ operator float4() const {
        return float4(Fp8<I>::part(__x, 0), Fp8<I>::part(__x, 1), Fp8<I>::part(__x, 2), Fp8<I>::part(__x, 3));
    }
};
}  // namespace hiphost

#define HIPHOST_FP8(name, I)                            \
    struct __hip_fp8_##name : hiphost::Fp8x1<I> {       \
        using hiphost::Fp8x1<I>::Fp8x1;                 \
        __hip_fp8_##name() = default;                   \
    };                                                  \
    struct __hip_fp8x2_##name : hiphost::Fp8x2<I> {     \
        using hiphost::Fp8x2<I>::Fp8x2;                 \
        __hip_fp8x2_##name() = default;                 \
    };                                                  \
    struct __hip_fp8x4_##name : hiphost::Fp8x4<I> {     \
        using hiphost::Fp8x4<I>::Fp8x4;                 \
        __hip_fp8x4_##name() = default;                 \
    };
HIPHOST_FP8(e4m3, __HIP_E4M3)
HIPHOST_FP8(e5m2, __HIP_E5M2)
HIPHOST_FP8(e4m3_fnuz, __HIP_E4M3_FNUZ)
HIPHOST_FP8(e5m2_fnuz, __HIP_E5M2_FNUZ)
#undef HIPHOST_FP8

// Conversions that return the bits.
#define HIPHOST_FP8_FROM(name, V, value)                                                             \
    static __forceinline__ __hip_fp8_storage_t __hip_cvt_##name##_to_fp8(                            \
        const V v, const __hip_saturation_t saturation, const __hip_fp8_interpretation_t format) {   \
        return hiphost::fp8_bits(value, saturation, format);                                         \
    }
#define HIPHOST_FP8_FROM_2(name, V, first, second)                                                   \
    static __forceinline__ __hip_fp8x2_storage_t __hip_cvt_##name##_to_fp8x2(                        \
        const V v, const __hip_saturation_t saturation, const __hip_fp8_interpretation_t format) {   \
        return (__hip_fp8x2_storage_t)(hiphost::fp8_bits(first, saturation, format) |                \
                                       hiphost::fp8_bits(second, saturation, format) << 8);          \
    }
HIPHOST_FP8_FROM(float, float, v)
HIPHOST_FP8_FROM(double, double, v)
HIPHOST_FP8_FROM(halfraw, __half_raw, (float)__half(v))
HIPHOST_FP8_FROM(bfloat16raw, __hip_bfloat16_raw, (float)__hip_bfloat16(v))
HIPHOST_FP8_FROM_2(float2, float2, v.x, v.y)
HIPHOST_FP8_FROM_2(double2, double2, v.x, v.y)
HIPHOST_FP8_FROM_2(halfraw2, __half2_raw, (float)__half(v.x), (float)__half(v.y))
HIPHOST_FP8_FROM_2(bfloat16raw2, __hip_bfloat162_raw, (float)__hip_bfloat162(v).x, (float)__hip_bfloat162(v).y)
#undef HIPHOST_FP8_FROM
#undef HIPHOST_FP8_FROM_2

static __forceinline__ __half_raw __hip_cvt_fp8_to_halfraw(const __hip_fp8_storage_t x, const __hip_fp8_interpretation_t format) {
    return __half(hiphost::fp8_value(x, format));
}
static __forceinline__ __half2_raw __hip_cvt_fp8x2_to_halfraw2(const __hip_fp8x2_storage_t x,
                                                               const __hip_fp8_interpretation_t format) {
    return __half2_raw{__hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)x, format),
                       __hip_cvt_fp8_to_halfraw((__hip_fp8_storage_t)(x >> 8), format)};
}
