// bfloat16: the upper half of a float.
#pragma once

struct hip_bfloat16 {
    unsigned short data;
    hip_bfloat16() = default;
    // To nearest, ties to even; a NaN stays one.
    explicit __forceinline__ hip_bfloat16(float v) {
        const unsigned bits = __float_as_uint(v);
        data = v != v ? (unsigned short)(bits >> 16 | 0x40) : (unsigned short)((bits + 0x7fff + (bits >> 16 & 1)) >> 16);
    }
    __forceinline__ operator float() const { return __uint_as_float((unsigned)data << 16); }
};

static __forceinline__ hip_bfloat16 operator+(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16((float)a + (float)b); }
static __forceinline__ hip_bfloat16 operator-(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16((float)a - (float)b); }
static __forceinline__ hip_bfloat16 operator*(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16((float)a * (float)b); }
static __forceinline__ hip_bfloat16 operator/(hip_bfloat16 a, hip_bfloat16 b) { return hip_bfloat16((float)a / (float)b); }
static __forceinline__ hip_bfloat16 operator-(hip_bfloat16 a) { return hip_bfloat16(-(float)a); }
static __forceinline__ hip_bfloat16& operator+=(hip_bfloat16& a, hip_bfloat16 b) { return a = a + b; }
static __forceinline__ hip_bfloat16& operator-=(hip_bfloat16& a, hip_bfloat16 b) { return a = a - b; }
static __forceinline__ hip_bfloat16& operator*=(hip_bfloat16& a, hip_bfloat16 b) { return a = a * b; }
static __forceinline__ hip_bfloat16& operator/=(hip_bfloat16& a, hip_bfloat16 b) { return a = a / b; }
