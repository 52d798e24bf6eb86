// Bits, reinterpretations, clocks and the few functions that the C library lacks.
#pragma once

#include <ctime>

namespace hiphost {
template <class To, class From>
static __forceinline__ To bits(From v) {
    static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
    To out;
    std::memcpy(&out, &v, sizeof out);
    return out;
}
}  // namespace hiphost

static __forceinline__ int __popc(unsigned v) { return __builtin_popcount(v); }
static __forceinline__ int __popcll(unsigned long long v) { return __builtin_popcountll(v); }
static __forceinline__ int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static __forceinline__ int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
static __forceinline__ int __ffs(int v) { return __builtin_ffs(v); }
static __forceinline__ int __ffsll(long long v) { return __builtin_ffsll(v); }
static inline unsigned __brev(unsigned v) {
    unsigned out = 0;
    for (int i = 0; i < 32; i++) out |= (v >> i & 1u) << (31 - i);
    return out;
}
static __forceinline__ int __mul24(int a, int b) { return (int)((unsigned)(a << 8 >> 8) * (unsigned)(b << 8 >> 8)); }
static __forceinline__ unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a * b) >> 32); }
static __forceinline__ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

static __forceinline__ int __float_as_int(float v) { return hiphost::bits<int>(v); }
static __forceinline__ unsigned __float_as_uint(float v) { return hiphost::bits<unsigned>(v); }
static __forceinline__ float __int_as_float(int v) { return hiphost::bits<float>(v); }
static __forceinline__ float __uint_as_float(unsigned v) { return hiphost::bits<float>(v); }
static __forceinline__ long long __double_as_longlong(double v) { return hiphost::bits<long long>(v); }
static __forceinline__ double __longlong_as_double(long long v) { return hiphost::bits<double>(v); }

template <class T>
static __forceinline__ T __ldg(const T* p) {
    return *p;
}

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

static __forceinline__ float rsqrtf(float v) { return 1.0f / sqrtf(v); }
static __forceinline__ double rsqrt(double v) { return 1.0 / sqrt(v); }

// Ticks of a counter that only grows, and nanoseconds.
static inline long long wall_clock64() {
    timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (long long)now.tv_sec * 1000000000ll + now.tv_nsec;
}
static inline long long clock64() {
#if defined(__x86_64__)
    return (long long)__builtin_ia32_rdtsc();
#else
    return wall_clock64();
#endif
}
// The C library's clock() measures the process; a kernel means ticks.
#define clock() clock64()
