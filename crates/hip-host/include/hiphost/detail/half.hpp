// Half precision from the compiler's own 16-bit type. Operands are widened to float, and each result is rounded once.
#pragma once

namespace hiphost {
#if defined(__aarch64__) && !defined(__clang__)
typedef __fp16 f16;
#elif defined(__FLT16_MANT_DIG__)
typedef _Float16 f16;
#else
#error "half precision needs a compiler with _Float16: GCC 12 or Clang 15, or newer"
#endif
}  // namespace hiphost

struct __half {
    hiphost::f16 value;
    __half() = default;
    __forceinline__ __half(float v) : value((hiphost::f16)v) {}
    __forceinline__ __half(double v) : value((hiphost::f16)v) {}
    __forceinline__ __half(int v) : value((hiphost::f16)v) {}
    __forceinline__ operator float() const { return (float)value; }
    __forceinline__ __half& operator+=(__half o) { return *this = __half((float)value + (float)o.value); }
    __forceinline__ __half& operator-=(__half o) { return *this = __half((float)value - (float)o.value); }
    __forceinline__ __half& operator*=(__half o) { return *this = __half((float)value * (float)o.value); }
    __forceinline__ __half& operator/=(__half o) { return *this = __half((float)value / (float)o.value); }
};
typedef __half half;

static __forceinline__ __half operator+(__half a, __half b) { return a += b; }
static __forceinline__ __half operator-(__half a, __half b) { return a -= b; }
static __forceinline__ __half operator*(__half a, __half b) { return a *= b; }
static __forceinline__ __half operator/(__half a, __half b) { return a /= b; }
static __forceinline__ __half operator-(__half a) { return __half(-(float)a.value); }
static __forceinline__ bool operator==(__half a, __half b) { return a.value == b.value; }
static __forceinline__ bool operator!=(__half a, __half b) { return a.value != b.value; }
static __forceinline__ bool operator<(__half a, __half b) { return a.value < b.value; }
static __forceinline__ bool operator<=(__half a, __half b) { return a.value <= b.value; }
static __forceinline__ bool operator>(__half a, __half b) { return a.value > b.value; }
static __forceinline__ bool operator>=(__half a, __half b) { return a.value >= b.value; }

static __forceinline__ __half __float2half(float v) { return __half(v); }
static __forceinline__ __half __float2half_rn(float v) { return __half(v); }
static __forceinline__ float __half2float(__half v) { return (float)v.value; }
static __forceinline__ unsigned short __half_as_ushort(__half v) { return hiphost::bits<unsigned short>(v); }
static __forceinline__ __half __ushort_as_half(unsigned short v) {
    __half out;
    std::memcpy(&out, &v, sizeof out);
    return out;
}

static __forceinline__ __half __hadd(__half a, __half b) { return a + b; }
static __forceinline__ __half __hsub(__half a, __half b) { return a - b; }
static __forceinline__ __half __hmul(__half a, __half b) { return a * b; }
static __forceinline__ __half __hdiv(__half a, __half b) { return a / b; }
static __forceinline__ __half __hneg(__half a) { return -a; }
static __forceinline__ __half __habs(__half a) { return __ushort_as_half(__half_as_ushort(a) & 0x7fffu); }
// A double holds the product exactly, and the sum with bits to spare, so this rounds once.
static __forceinline__ __half __hfma(__half a, __half b, __half c) {
    return __half((double)a.value * (double)b.value + (double)c.value);
}
static __forceinline__ bool __heq(__half a, __half b) { return a == b; }
static __forceinline__ bool __hne(__half a, __half b) { return a != b; }
static __forceinline__ bool __hlt(__half a, __half b) { return a < b; }
static __forceinline__ bool __hle(__half a, __half b) { return a <= b; }
static __forceinline__ bool __hgt(__half a, __half b) { return a > b; }
static __forceinline__ bool __hge(__half a, __half b) { return a >= b; }
static __forceinline__ bool __hisnan(__half a) { return a.value != a.value; }
static __forceinline__ __half hsqrt(__half a) { return __half(sqrtf((float)a.value)); }

struct alignas(4) __half2 {
    __half x, y;
    __half2() = default;
    __forceinline__ __half2(__half a, __half b) : x(a), y(b) {}
};
typedef __half2 half2;

static __forceinline__ __half2 __halves2half2(__half a, __half b) { return __half2(a, b); }
static __forceinline__ __half2 __half2half2(__half a) { return __half2(a, a); }
static __forceinline__ __half2 __floats2half2_rn(float a, float b) { return __half2(__half(a), __half(b)); }
static __forceinline__ __half2 __float22half2_rn(float2 v) { return __half2(__half(v.x), __half(v.y)); }
static __forceinline__ float2 __half22float2(__half2 v) { return make_float2((float)v.x.value, (float)v.y.value); }
static __forceinline__ __half __low2half(__half2 v) { return v.x; }
static __forceinline__ __half __high2half(__half2 v) { return v.y; }
static __forceinline__ float __low2float(__half2 v) { return (float)v.x.value; }
static __forceinline__ float __high2float(__half2 v) { return (float)v.y.value; }
static __forceinline__ __half2 __hadd2(__half2 a, __half2 b) { return __half2(a.x + b.x, a.y + b.y); }
static __forceinline__ __half2 __hsub2(__half2 a, __half2 b) { return __half2(a.x - b.x, a.y - b.y); }
static __forceinline__ __half2 __hmul2(__half2 a, __half2 b) { return __half2(a.x * b.x, a.y * b.y); }
static __forceinline__ __half2 __hfma2(__half2 a, __half2 b, __half2 c) {
    return __half2(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));
}
