// Arithmetic functions of HIP: min and max, conversions with a rounding mode, and intrinsics for single
// operations. Functions that the C library has under the same name (sinf, fmaf, ...) come from there.
#pragma once

static __forceinline__ int min(int a, int b) { return b < a ? b : a; }
static __forceinline__ unsigned min(unsigned a, unsigned b) { return b < a ? b : a; }
static __forceinline__ long min(long a, long b) { return b < a ? b : a; }
static __forceinline__ unsigned long min(unsigned long a, unsigned long b) { return b < a ? b : a; }
static __forceinline__ long long min(long long a, long long b) { return b < a ? b : a; }
static __forceinline__ unsigned long long min(unsigned long long a, unsigned long long b) { return b < a ? b : a; }
static __forceinline__ float min(float a, float b) { return fminf(a, b); }
static __forceinline__ double min(double a, double b) { return fmin(a, b); }
static __forceinline__ int max(int a, int b) { return a < b ? b : a; }
static __forceinline__ unsigned max(unsigned a, unsigned b) { return a < b ? b : a; }
static __forceinline__ long max(long a, long b) { return a < b ? b : a; }
static __forceinline__ unsigned long max(unsigned long a, unsigned long b) { return a < b ? b : a; }
static __forceinline__ long long max(long long a, long long b) { return a < b ? b : a; }
static __forceinline__ unsigned long long max(unsigned long long a, unsigned long long b) { return a < b ? b : a; }
static __forceinline__ float max(float a, float b) { return fmaxf(a, b); }
static __forceinline__ double max(double a, double b) { return fmax(a, b); }
// Arguments of two types, as in `min(i, 4u)`.
template <class A, class B>
static __forceinline__ auto min(A a, B b) -> std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>> {
    using C = std::common_type_t<A, B>;
    return (C)b < (C)a ? (C)b : (C)a;
}
template <class A, class B>
static __forceinline__ auto max(A a, B b) -> std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>, std::common_type_t<A, B>> {
    using C = std::common_type_t<A, B>;
    return (C)a < (C)b ? (C)b : (C)a;
}
// Two values of another comparable type.
template <class T>
static __forceinline__ auto min(T a, T b) -> std::enable_if_t<!std::is_arithmetic_v<T>, T> {
    return a < b ? a : b;
}
template <class T>
static __forceinline__ auto max(T a, T b) -> std::enable_if_t<!std::is_arithmetic_v<T>, T> {
    return a < b ? b : a;
}

static __forceinline__ float rsqrtf(float v) { return 1.0f / sqrtf(v); }
static __forceinline__ double rsqrt(double v) { return 1.0 / sqrt(v); }
static __forceinline__ float rcbrtf(float v) { return 1.0f / cbrtf(v); }
static __forceinline__ double rcbrt(double v) { return 1.0 / cbrt(v); }
static __forceinline__ float fdividef(float a, float b) { return a / b; }
static __forceinline__ float __saturatef(float v) { return v > 0.0f ? (v < 1.0f ? v : 1.0f) : 0.0f; }

// Single operations rounded to nearest, which is the host's rounding mode anyway.
static __forceinline__ float __fadd_rn(float a, float b) { return a + b; }
static __forceinline__ float __fsub_rn(float a, float b) { return a - b; }
static __forceinline__ float __fmul_rn(float a, float b) { return a * b; }
static __forceinline__ float __fdiv_rn(float a, float b) { return a / b; }
static __forceinline__ float __frcp_rn(float v) { return 1.0f / v; }
static __forceinline__ float __fsqrt_rn(float v) { return sqrtf(v); }
static __forceinline__ float __frsqrt_rn(float v) { return 1.0f / sqrtf(v); }
static __forceinline__ float __fmaf_rn(float a, float b, float c) { return fmaf(a, b, c); }
static __forceinline__ double __dadd_rn(double a, double b) { return a + b; }
static __forceinline__ double __dsub_rn(double a, double b) { return a - b; }
static __forceinline__ double __dmul_rn(double a, double b) { return a * b; }
static __forceinline__ double __ddiv_rn(double a, double b) { return a / b; }
static __forceinline__ double __drcp_rn(double v) { return 1.0 / v; }
static __forceinline__ double __dsqrt_rn(double v) { return sqrt(v); }
static __forceinline__ double __fma_rn(double a, double b, double c) { return fma(a, b, c); }

// The fast forms are exact here. They are macros, because the C library already declares functions with these
// names.
static __forceinline__ float __fdividef(float a, float b) { return a / b; }
#define __sinf(v) sinf(v)
#define __cosf(v) cosf(v)
#define __tanf(v) tanf(v)
#define __expf(v) expf(v)
#define __exp10f(v) powf(10.0f, v)
#define __logf(v) logf(v)
#define __log2f(v) log2f(v)
#define __log10f(v) log10f(v)
#define __powf(a, b) powf(a, b)

// Conversions to integers: to nearest, towards zero, down, up.
#define HIPHOST_TO_INTEGER(from, F, to, T, nearest, down, up)                         \
    static __forceinline__ T __##from##2##to##_rn(F v) { return (T)nearest(v); }      \
    static __forceinline__ T __##from##2##to##_rz(F v) { return (T)v; }               \
    static __forceinline__ T __##from##2##to##_rd(F v) { return (T)down(v); }         \
    static __forceinline__ T __##from##2##to##_ru(F v) { return (T)up(v); }
HIPHOST_TO_INTEGER(float, float, int, int, rintf, floorf, ceilf)
HIPHOST_TO_INTEGER(float, float, uint, unsigned, rintf, floorf, ceilf)
HIPHOST_TO_INTEGER(float, float, ll, long long, rintf, floorf, ceilf)
HIPHOST_TO_INTEGER(float, float, ull, unsigned long long, rintf, floorf, ceilf)
HIPHOST_TO_INTEGER(double, double, int, int, rint, floor, ceil)
HIPHOST_TO_INTEGER(double, double, uint, unsigned, rint, floor, ceil)
HIPHOST_TO_INTEGER(double, double, ll, long long, rint, floor, ceil)
HIPHOST_TO_INTEGER(double, double, ull, unsigned long long, rint, floor, ceil)
#undef HIPHOST_TO_INTEGER

// Conversions to floating point, to nearest.
static __forceinline__ float __int2float_rn(int v) { return (float)v; }
static __forceinline__ float __uint2float_rn(unsigned v) { return (float)v; }
static __forceinline__ float __ll2float_rn(long long v) { return (float)v; }
static __forceinline__ float __ull2float_rn(unsigned long long v) { return (float)v; }
static __forceinline__ double __int2double_rn(int v) { return (double)v; }
static __forceinline__ double __uint2double_rn(unsigned v) { return (double)v; }
static __forceinline__ double __ll2double_rn(long long v) { return (double)v; }
static __forceinline__ double __ull2double_rn(unsigned long long v) { return (double)v; }
static __forceinline__ float __double2float_rn(double v) { return (float)v; }

// The same, rounded down, up and towards zero: the nearest number, or its neighbour. A long double holds
// every value exactly.
namespace hiphost {
enum class Towards { down, up, zero };
template <class T, class V>
static inline T rounded(V v, Towards towards) {
    const T nearest = (T)v, infinity = (T)INFINITY;
    const long double exact = v, found = nearest;
    if (found == exact || !(exact - exact == 0)) return nearest;
    const bool down = towards == Towards::down || (towards == Towards::zero && exact > 0);
    if (down ? found < exact : found > exact) return nearest;
    return std::nextafter(nearest, down ? -infinity : infinity);
}
}  // namespace hiphost

#define HIPHOST_TO_FLOATING(from, F, to, T)                                                                                  \
    static __forceinline__ T __##from##2##to##_rz(F v) { return hiphost::rounded<T>(v, hiphost::Towards::zero); }            \
    static __forceinline__ T __##from##2##to##_rd(F v) { return hiphost::rounded<T>(v, hiphost::Towards::down); }            \
    static __forceinline__ T __##from##2##to##_ru(F v) { return hiphost::rounded<T>(v, hiphost::Towards::up); }
HIPHOST_TO_FLOATING(double, double, float, float)
HIPHOST_TO_FLOATING(int, int, float, float)
HIPHOST_TO_FLOATING(uint, unsigned, float, float)
HIPHOST_TO_FLOATING(ll, long long, float, float)
HIPHOST_TO_FLOATING(ull, unsigned long long, float, float)
HIPHOST_TO_FLOATING(ll, long long, double, double)
HIPHOST_TO_FLOATING(ull, unsigned long long, double, double)
#undef HIPHOST_TO_FLOATING
