// HIP's older hip_bfloat16: storage of 16 bits, arithmetic in float, each result rounded to nearest even.
#pragma once

#include "rounding.hpp"
#include "small_float.hpp"

struct hip_bfloat16 {
    enum truncate_t { truncate };
    unsigned short data;
    hip_bfloat16() = default;
    explicit __forceinline__ hip_bfloat16(float v) : data(hiphost::bfloat16_bits(v)) {}
    // Truncates to a bfloat16; a NaN stays a NaN.
    explicit __forceinline__ hip_bfloat16(float v, truncate_t)
        : data((unsigned short)(__float_as_uint(v) >> 16 | (v != v ? 0x40u : 0u))) {}
    __forceinline__ hip_bfloat16& operator=(const float& v) {
        data = hiphost::bfloat16_bits(v);
        return *this;
    }
    __forceinline__ operator float() const { return __uint_as_float((unsigned)data << 16); }
    static __forceinline__ hip_bfloat16 round_to_bfloat16(float v) { return hip_bfloat16(v); }
    static __forceinline__ hip_bfloat16 round_to_bfloat16(float v, truncate_t) { return hip_bfloat16(v, truncate); }
};

HIPHOST_SMALL_FLOAT(hip_bfloat16)

namespace std {
static __forceinline__ bool isinf(hip_bfloat16 v) { return (v.data & 0x7fff) == 0x7f80; }
static __forceinline__ bool isnan(hip_bfloat16 v) { return (v.data & 0x7fff) > 0x7f80; }
static __forceinline__ bool iszero(hip_bfloat16 v) { return (v.data & 0x7fff) == 0; }
}  // namespace std
