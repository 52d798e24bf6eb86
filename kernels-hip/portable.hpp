//! All that the kernels need, without standard headers: platforms, number formats, functions, index arithmetic.
//
// One text for five compilers: hipcc, hiprtc, nvcc, NVRTC and a host C++ compiler (through hip-host's device.hpp).
//
// Macros that the build sets
//   DTYPE_<dtype>   the unit's element type: u8 u32 i16 i32 i64 f8e4m3 bf16 f16 f32 f64
//   WAVE_SIZE       32 or 64: lanes that run together. Host builds of units without warp operations leave it out.
// Contraction of a*b+c must be off: -ffp-contract=off (hipcc, hiprtc, g++), -fmad=false (nvcc, NVRTC).
//
// Everything here has internal linkage: a program may hold many units, built with different macros.
#pragma once

// ---- platforms --------------------------------------------------------------------------------------------------------
#if defined(__HIPCC_RTC__) || defined(__HIP__)
#define ON_AMD 1
#define ON_NVIDIA 0
#define ON_HOST 0
#ifndef __HIPCC_RTC__
#include <hip/hip_runtime.h>
#endif
#pragma clang fp contract(off)
#elif defined(__CUDACC_RTC__) || defined(__CUDACC__)
#define ON_AMD 0
#define ON_NVIDIA 1
#define ON_HOST 0
#else
#define ON_AMD 0
#define ON_NVIDIA 0
#define ON_HOST 1
#if defined(WAVE_SIZE) && !defined(HIPHOST_WAVE_SIZE)
#define HIPHOST_WAVE_SIZE WAVE_SIZE
#endif
#include <hiphost/device.hpp>
#endif

// DEVICE: a function of this file. METHOD: a member function. SHARED_CODE: a function that the host keeps as one copy.
#define DEVICE static __device__ __forceinline__
#define METHOD __device__ __forceinline__
#if ON_HOST
#define SHARED_CODE static __attribute__((noinline))
// The iterations of the loop that follows are independent: an output may be the very input, never a shifted one.
#define INDEPENDENT _Pragma("GCC ivdep")
#define UNROLL
#define KERNEL(...) HIPHOST_KERNEL(__VA_ARGS__)
#define DYNAMIC_SHARED(T, name) T* const name = (T*)hiphost::dynamic_shared()
// What a block shares is a variable of the system's thread there, and those take from every thread's stack: large arrays of all kernels lie
// in the same places, whose sizes are powers of two, since a thread runs one block at a time. `slot` tells the arrays of one kernel apart.
#if defined(__SANITIZE_ADDRESS__)
#define SHARED_ARRAY(slot, T, name, count) __shared__ T name[count]
#else
namespace hipstack {
template <int SLOT, unsigned long BYTES> alignas(16) inline thread_local unsigned char shared_place[BYTES];
constexpr unsigned long place_bytes(unsigned long bytes) { return bytes <= 16 ? 16 : 2 * place_bytes((bytes + 1) / 2); }
}
#define SHARED_ARRAY(slot, T, name, count) T* const name = reinterpret_cast<T*>(hipstack::shared_place<slot, hipstack::place_bytes(sizeof(T) * (count))>)
#endif
#else
#define SHARED_ARRAY(slot, T, name, count) __shared__ T name[count]
#define SHARED_CODE DEVICE
#define INDEPENDENT
#define UNROLL _Pragma("unroll")
#define KERNEL(...) KERNEL_(__VA_ARGS__)
#define KERNEL_(name, ...) extern "C" __global__ __launch_bounds__(256) void name(__VA_ARGS__)
#define DYNAMIC_SHARED(T, name)                             \
    extern __shared__ __align__(16) unsigned char dynamic_shared_bytes[]; \
    T* const name = reinterpret_cast<T*>(dynamic_shared_bytes)
#endif
// Asserts a struct's layout, which src/args.rs mirrors. NVRTC knows no offsetof; the host's assertion speaks for all.
#if ON_HOST
#define OFFSET(type, field, offset) static_assert(__builtin_offsetof(type, field) == offset, "another layout in args.rs");
#else
#define OFFSET(type, field, offset)
#endif
#define SIZE(type, size) static_assert(sizeof(type) == size, "another size in args.rs");
// KERNEL(name, parameters...) { body } defines a kernel; blocks have at most 256 threads in one dimension.
// DYNAMIC_SHARED(T, name); declares a pointer to the launch's dynamic shared memory.

#define PASTE4_(a, b, c, d) a##b##c##d
#define PASTE4(a, b, c, d) PASTE4_(a, b, c, d)

namespace hipstack {

// ---- number formats ---------------------------------------------------------------------------------------------------
typedef unsigned char u8;
typedef unsigned short u16;
typedef unsigned int u32;
typedef unsigned long long u64;
typedef short i16;
typedef int i32;
typedef long long i64;
typedef float f32;
typedef double f64;
// Floats of 16 and 8 bits are bits in memory and f32 in registers.
struct f16 { u16 bits; };
struct bf16 { u16 bits; };
struct f8e4m3 { u8 bits; };

static_assert(sizeof(u16) == 2 && sizeof(u32) == 4 && sizeof(u64) == 8, "widths of the integer types");

DEVICE u32 bits_of(f32 v) { return __float_as_uint(v); }
DEVICE u64 bits_of(f64 v) { return (u64)__double_as_longlong(v); }
DEVICE f32 from_bits(u32 v) { return __uint_as_float(v); }
DEVICE f64 from_bits(u64 v) { return __longlong_as_double((i64)v); }

// The instructions of NVIDIA for f16 and bf16 give the same bits but for those of NaN. AMD's for f16 depend on a mode register, so that
// AMD has the text below.
//
// to_f32: exact. Subnormals are shifted into place and freed of their implicit one by a subtraction, which is exact.
DEVICE f32 to_f32(bf16 v) { return from_bits((u32)v.bits << 16); }
DEVICE f32 to_f32(f16 v) {
#if ON_NVIDIA
    f32 out;
    asm("cvt.f32.f16 %0, %1;" : "=f"(out) : "h"(v.bits));
    return out;
#else
    const u32 magnitude = v.bits & 0x7fffu, shifted = magnitude << 13;
    const u32 special = magnitude >= 0x7c00u ? 112u << 23 : 0u;
    const u32 normal = shifted + (112u << 23) + special;
    const u32 subnormal = bits_of(from_bits(shifted + (113u << 23)) - from_bits(113u << 23));
    return from_bits((magnitude < 0x0400u ? subnormal : normal) | (v.bits & 0x8000u) << 16);
#endif
}
DEVICE f32 to_f32(f8e4m3 v) {
    const u32 magnitude = v.bits & 0x7fu, shifted = magnitude << 20;
    const u32 normal = magnitude == 0x7fu ? 0x7fc00000u : shifted + (120u << 23);
    const u32 subnormal = bits_of(from_bits(shifted + (121u << 23)) - from_bits(121u << 23));
    return from_bits((magnitude < 8u ? subnormal : normal) | (v.bits & 0x80u) << 24);
}

// from_f32: to nearest, ties to even. Adding a power of two whose last place is the smallest subnormal rounds subnormals.
DEVICE void from_f32(f32 v, bf16& out) {
#if ON_NVIDIA && __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(out.bits) : "f"(v));
#else
    const u32 b = bits_of(v);
    const u32 rounded = (b + 0x7fffu + (b >> 16 & 1u)) >> 16;
    out.bits = (u16)((b & 0x7fffffffu) > 0x7f800000u ? (b >> 16 | 0x40u) : rounded);
#endif
}
DEVICE void from_f32(f32 v, f16& out) {
#if ON_NVIDIA
    asm("cvt.rn.f16.f32 %0, %1;" : "=h"(out.bits) : "f"(v));
#else
    const u32 b = bits_of(v), magnitude = b & 0x7fffffffu;
    const u32 normal = (magnitude + 0x0fffu + (magnitude >> 13 & 1u) - (112u << 23)) >> 13;
    const u32 subnormal = bits_of(from_bits(magnitude) + 0.5f) - 0x3f000000u;
    const u32 finite = magnitude < (113u << 23) ? subnormal : normal;
    const u32 special = magnitude > 0x7f800000u ? 0x7e00u : 0x7c00u;
    out.bits = (u16)((magnitude >= (143u << 23) ? special : finite) | (b >> 16 & 0x8000u));
#endif
}
// OCP E4M3: no infinity; what is too large becomes 448 with its sign, NaN stays NaN.
DEVICE void from_f32(f32 v, f8e4m3& out) {
    const u32 b = bits_of(v), magnitude = b & 0x7fffffffu;
    const u32 normal = (magnitude + 0x7ffffu + (magnitude >> 20 & 1u) - (120u << 23)) >> 20;
    const u32 subnormal = bits_of(from_bits(magnitude) + 16384.0f) - 0x46800000u;
    const u32 finite = magnitude < (121u << 23) ? subnormal : normal;
    const u32 special = magnitude > 0x7f800000u ? 0x7fu : 0x7eu;
    out.bits = (u8)((magnitude > 0x43e00000u ? special : finite) | (b >> 24 & 0x80u));
}

// Whether words of two 16-bit floats are taken apart and put together as such: NVIDIA's instructions address halves of registers.
#if ON_NVIDIA && (defined(DTYPE_f16) || defined(DTYPE_bf16))
#if __CUDA_ARCH__ >= 800
#define HALVES 1
#endif
#endif
#ifndef HALVES
#define HALVES 0
#endif
#if HALVES
DEVICE void widen_halves(u32 word, f32& low, f32& high) {
#if defined(DTYPE_f16)
    asm("{.reg .b16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}" : "=f"(low), "=f"(high) : "r"(word));
#else
    low = from_bits(word << 16);
    high = from_bits(word & 0xffff0000u);
#endif
}
DEVICE u32 narrow_halves(f32 low, f32 high) {
    u32 word;
#if defined(DTYPE_f16)
    asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#else
    asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
#endif
    return word;
}
// The greater ones of two each; of NaN and a number the number, with NAN_WINS the NaN. -0 is less than +0.
template <bool LEAST, bool NAN_WINS> DEVICE u32 extreme_halves(u32 a, u32 b) {
    u32 out;
#if defined(DTYPE_f16)
#define HALF_KIND "f16x2"
#else
#define HALF_KIND "bf16x2"
#endif
    if constexpr (NAN_WINS && LEAST) asm("min.NaN." HALF_KIND " %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    else if constexpr (NAN_WINS) asm("max.NaN." HALF_KIND " %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    else asm("max." HALF_KIND " %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    return out;
}
#endif

// An f64 rounded to f32 "to odd": truncated, and the last bit set if anything was lost. Rounding that to a format with at
// least two bits less gives what rounding the f64 once would give.
DEVICE f32 to_odd_f32(f64 v) {
    const f32 nearest = (f32)v;
    const f64 back = (f64)nearest;
    const u32 b = bits_of(nearest);
    const u32 truncated = (bits_of(back) << 1) > (bits_of(v) << 1) ? b - 1u : b;
    return v != v ? nearest : from_bits(back != v ? truncated | 1u : b);
}
// An integer as f64, rounded to odd where it has more than 53 bits: the 11 low bits become one.
DEVICE f64 to_odd_f64(i64 v) {
    const u64 magnitude = v < 0 ? 0ull - (u64)v : (u64)v;
    const u64 odd = (magnitude & ~0x7ffull) | ((magnitude & 0x7ffull) != 0 ? 0x800ull : 0ull);
    const f64 out = (f64)(magnitude >> 53 != 0 ? odd : magnitude);
    return v < 0 ? -out : out;
}

// ---- what a dtype is --------------------------------------------------------------------------------------------------
// Compute: the type of its arithmetic. Wrap: the unsigned type in which integers wrap. Rank: an integer that orders it.
template <class T> struct Dtype;
template <class C, class W, class R, bool F, bool S, u32 B> struct DtypeOf {
    typedef C Compute;
    typedef W Wrap;
    typedef R Rank;
    static constexpr bool FLOAT = F, SIGNED = S;
    static constexpr u32 BITS = B;
};
template <> struct Dtype<u8> : DtypeOf<u8, u32, u32, false, false, 8> {};
template <> struct Dtype<u32> : DtypeOf<u32, u32, u32, false, false, 32> {};
template <> struct Dtype<i16> : DtypeOf<i16, u32, i32, false, true, 16> {};
template <> struct Dtype<i32> : DtypeOf<i32, u32, i32, false, true, 32> {};
template <> struct Dtype<i64> : DtypeOf<i64, u64, i64, false, true, 64> {};
template <> struct Dtype<f8e4m3> : DtypeOf<f32, u32, i32, true, true, 8> {};
template <> struct Dtype<bf16> : DtypeOf<f32, u32, i32, true, true, 16> {};
template <> struct Dtype<f16> : DtypeOf<f32, u32, i32, true, true, 16> {};
template <> struct Dtype<f32> : DtypeOf<f32, u32, i32, true, true, 32> {};
template <> struct Dtype<f64> : DtypeOf<f64, u64, i64, true, true, 64> {};

#define FOR_PLAIN_TYPES(X) X(u8) X(u32) X(i16) X(i32) X(i64) X(f32) X(f64)
#define FOR_SMALL_FLOATS(X) X(f8e4m3) X(bf16) X(f16)

// widen: storage to compute type, exact. narrow<T>: back, rounded once.
#define PLAIN(T) DEVICE T widen(T v) { return v; }
FOR_PLAIN_TYPES(PLAIN)
#undef PLAIN
#define SMALL(T) DEVICE f32 widen(T v) { return to_f32(v); }
FOR_SMALL_FLOATS(SMALL)
#undef SMALL
template <class T> DEVICE T narrow(typename Dtype<T>::Compute v) {
    if constexpr (Dtype<T>::FLOAT && sizeof(T) < 4) {
        T out;
        from_f32(v, out);
        return out;
    } else {
        return v;
    }
}

template <class I> DEVICE constexpr I greatest() {
    constexpr u64 magnitude = ~0ull >> (64 - Dtype<I>::BITS + (Dtype<I>::SIGNED ? 1 : 0));
    return (I)magnitude;
}
template <class I> DEVICE constexpr I least() { return (I)(Dtype<I>::SIGNED ? -(i64)greatest<I>() - 1 : 0); }

// Any dtype to any other. Float to integer truncates and saturates, NaN gives 0; integers wrap; floats round once.
template <class D, class S> DEVICE D convert(S v) {
    typedef typename Dtype<S>::Compute C;
    if constexpr (Dtype<D>::FLOAT && sizeof(D) == 1 && Dtype<S>::FLOAT && sizeof(S) == 1) {
        return v; // f8e4m3 has no NaN that rounding would change
    } else if constexpr (Dtype<D>::FLOAT && sizeof(D) < 4) {
        D out;
        if constexpr (Dtype<S>::FLOAT && sizeof(S) == 8) from_f32(to_odd_f32(v), out);
        else if constexpr (Dtype<S>::FLOAT || sizeof(S) < 4) from_f32((f32)widen(v), out);
        else if constexpr (sizeof(S) == 4) from_f32(to_odd_f32((f64)v), out);
        else from_f32(to_odd_f32(to_odd_f64(v)), out);
        return out;
    } else if constexpr (Dtype<D>::FLOAT || !Dtype<S>::FLOAT) {
        return (D)widen(v);
    } else {
        const C x = widen(v);
        const C end = (C)((u64)greatest<D>() / 2 + 1) * (C)2; // greatest + 1, a power of two
        if (x >= end) return greatest<D>();
        if (x <= (C)least<D>()) return least<D>();
        return x == x ? (D)x : (D)0;
    }
}

// ---- functions --------------------------------------------------------------------------------------------------------
// The platform's library, by one name for f32 and f64.
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
// Half away from zero. Not the library's round: that of ROCm 5.2 adds +0 to the truncated number, which turns -0 into +0.
template <class C> DEVICE C m_round(C x) {
    const C whole = m_trunc(x);
    return whole + m_copysign(m_abs(x - whole) >= C(0.5) ? C(1) : C(0), x);
}
// C's pow; x^0 and 1^y are 1 for every NaN, signalling ones too, where some libraries answer NaN.
DEVICE f32 m_pow(f32 x, f32 y) { return x == 1.0f || y == 0.0f ? 1.0f : powf(x, y); }
DEVICE f64 m_pow(f64 x, f64 y) { return x == 1.0 || y == 0.0 ? 1.0 : ::pow(x, y); }
DEVICE f32 m_fmod(f32 x, f32 y) { return fmodf(x, y); }
DEVICE f64 m_fmod(f64 x, f64 y) { return ::fmod(x, y); }
// One rounding, always.
DEVICE f32 m_fma(f32 x, f32 y, f32 z) { return fmaf(x, y, z); }
DEVICE f64 m_fma(f64 x, f64 y, f64 z) { return ::fma(x, y, z); }
// x*y + z by the quickest way: fused where there is an instruction for it, else rounded twice.
template <class C> DEVICE C multiply_add(C x, C y, C z) {
#if !ON_HOST || defined(__FMA__) || defined(__aarch64__)
    return m_fma(x, y, z);
#else
    return x * y + z;
#endif
}
// 2^x with a relative error of 2^-22; what is below the normal numbers may be 0.
DEVICE f32 quick_exp2(f32 x) {
#if ON_NVIDIA
    f32 out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
#elif ON_AMD
#if __has_builtin(__builtin_amdgcn_exp2f)
    return __builtin_amdgcn_exp2f(x);
#else
    return __builtin_exp2f(x); // compilers that lack the other make the same instruction of this one
#endif
#else
    return exp2f(x);
#endif
}

DEVICE bool is_negative(f32 v) { return bits_of(v) >> 31 != 0; }
DEVICE bool is_negative(f64 v) { return bits_of(v) >> 63 != 0; }

// NaN wins; -0 is less than +0.
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

// An integer whose order is that of the values: NaN above all, -0 below +0. For minima the order is turned round, and NaN
// stays above all, so that every search is a search for the greatest rank.
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

// ---- index arithmetic -------------------------------------------------------------------------------------------------
static constexpr u32 MAX_RANK = 8;
static constexpr u32 MAX_BLOCK = 256;
// A quarter of the shared memory that four SIMDs have together: AMD's gfx9, which have 64 lanes, have 64 KiB, all others 96 and more.
#if ON_AMD && WAVE_SIZE == 64
static constexpr u32 SHARED_OF_A_QUARTER = 16 << 10;
#else
static constexpr u32 SHARED_OF_A_QUARTER = 24 << 10;
#endif

DEVICE u64 thread_number() { return (u64)blockIdx.x * blockDim.x + threadIdx.x; }
DEVICE u64 thread_count() { return (u64)gridDim.x * blockDim.x; }

struct Offsets { u64 a, b; };

// The dims but the first. AMD's compilers read all that an unrolled loop needs of the maps when the kernel begins, more than there
// are scalar registers: they keep the rest in lanes of vector registers. Elsewhere indices that are constants cost less.
#if ON_AMD
#define DIMS_FROM_THE_LAST(d, rank) _Pragma("unroll 1") for (u32 d = rank; d-- > 1;)
#else
#define DIMS_FROM_THE_LAST(d, rank) UNROLL for (u32 d = MAX_RANK; d-- > 1;) if (d < rank)
#endif

// Offsets of the element with row-major number i in two arrays of the same dims. I is u32 where the numbers fit: a division
// of 64 bits costs several times more.
template <class I> DEVICE Offsets offsets_as(I i, u32 rank, const u64* dims, const u64* a, const u64* b) {
    Offsets at = {0, 0};
    DIMS_FROM_THE_LAST(d, rank) {
        const I quotient = i / (I)dims[d], remainder = i - quotient * (I)dims[d];
        at.a += remainder * a[d];
        at.b += remainder * b[d];
        i = quotient;
    }
    if (rank > 0) {
        at.a += i * a[0];
        at.b += i * b[0];
    }
    return at;
}
DEVICE Offsets offsets(u64 i, u64 count, u32 rank, const u64* dims, const u64* a, const u64* b) {
    return count >> 32 == 0 ? offsets_as<u32>((u32)i, rank, dims, a, b) : offsets_as<u64>(i, rank, dims, a, b);
}

// N elements that move as one, 16 bytes at most.
template <class T, u32 N> struct alignas(sizeof(T) * N) Pack { T at[N]; };
template <class T, u32 N> DEVICE bool is_aligned(const T* p) { return (u64)p % (sizeof(T) * N) == 0; }
template <u32 N, class T> DEVICE Pack<T, N> load_pack(const T* p) { return *reinterpret_cast<const Pack<T, N>*>(p); }
template <u32 N, class T> DEVICE void store_pack(T* p, const Pack<T, N>& v) { *reinterpret_cast<Pack<T, N>*>(p) = v; }
// To global memory. By an instruction on NVIDIA: nvcc often writes a pack that it has taken apart element by element.
template <u32 N, class T> DEVICE void write_pack(T* p, const Pack<T, N>& v) {
#if ON_NVIDIA
    if constexpr (sizeof(v) == 16) {
        u32 at[4];
        memcpy(at, &v, sizeof(v));
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "r"(at[0]), "r"(at[1]), "r"(at[2]),
                     "r"(at[3]) : "memory");
        return;
    }
#endif
    store_pack(p, v);
}

// ---- threads of a block together --------------------------------------------------------------------------------------
#if defined(WAVE_SIZE) && WAVE_SIZE != 0
static_assert(WAVE_SIZE == 32 || WAVE_SIZE == 64, "WAVE_SIZE is 32 or 64");

// The value of the lane whose number differs in the bits of mask, within groups of 32. All lanes of the group must call it.
template <class T> DEVICE T shuffle_xor(T v, u32 mask) {
#if ON_NVIDIA
    return __shfl_xor_sync(0xffffffffu, v, (int)mask, 32);
#else
    return __shfl_xor(v, (int)mask, 32);
#endif
}
#endif

} // namespace hipstack

// ---- the unit ---------------------------------------------------------------------------------------------------------
#if defined(DTYPE_u8)
#define DTYPE u8
#elif defined(DTYPE_u32)
#define DTYPE u32
#elif defined(DTYPE_i16)
#define DTYPE i16
#elif defined(DTYPE_i32)
#define DTYPE i32
#elif defined(DTYPE_i64)
#define DTYPE i64
#elif defined(DTYPE_f8e4m3)
#define DTYPE f8e4m3
#define DTYPE_IS_FLOAT 1
#elif defined(DTYPE_bf16)
#define DTYPE bf16
#define DTYPE_IS_FLOAT 1
#elif defined(DTYPE_f16)
#define DTYPE f16
#define DTYPE_IS_FLOAT 1
#elif defined(DTYPE_f32)
#define DTYPE f32
#define DTYPE_IS_FLOAT 1
#elif defined(DTYPE_f64)
#define DTYPE f64
#define DTYPE_IS_FLOAT 1
#endif
#ifndef DTYPE_IS_FLOAT
#define DTYPE_IS_FLOAT 0
#endif

#ifdef DTYPE
namespace hipstack {
typedef DTYPE T; // storage type of the unit
typedef Dtype<T>::Compute C; // type of its arithmetic
} // namespace hipstack
#endif

#if ON_HOST && defined(HIPHOST_UNIT)
HIPHOST_MODULE(HIPHOST_UNIT)
#endif
