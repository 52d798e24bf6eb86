// Integer intrinsics, reinterpretations and packed bytes.
#pragma once

namespace hiphost {
template <class To, class From>
static __forceinline__ To bits(From v) {
    static_assert(sizeof(To) == sizeof(From), "a reinterpretation keeps the size");
    To out;
    std::memcpy(&out, &v, sizeof out);
    return out;
}
}  // namespace hiphost

static __forceinline__ unsigned __popc(unsigned v) { return (unsigned)__builtin_popcount(v); }
static __forceinline__ unsigned __popcll(unsigned long long v) { return (unsigned)__builtin_popcountll(v); }
static __forceinline__ int __clz(int v) { return v ? __builtin_clz((unsigned)v) : 32; }
static __forceinline__ int __clzll(long long v) { return v ? __builtin_clzll((unsigned long long)v) : 64; }
// The index of the lowest set bit, counted from 1; 0 if no bit is set.
static __forceinline__ unsigned __ffs(unsigned v) { return (unsigned)__builtin_ffs((int)v); }
static __forceinline__ unsigned __ffs(int v) { return (unsigned)__builtin_ffs(v); }
static __forceinline__ unsigned __ffsll(unsigned long long v) { return (unsigned)__builtin_ffsll((long long)v); }
static __forceinline__ unsigned __ffsll(long long v) { return (unsigned)__builtin_ffsll(v); }
static __forceinline__ unsigned __ffsll(unsigned long v) { return (unsigned)__builtin_ffsll((long long)v); }

static __forceinline__ unsigned __brev(unsigned v) {
    v = (v >> 1 & 0x55555555u) | (v & 0x55555555u) << 1;
    v = (v >> 2 & 0x33333333u) | (v & 0x33333333u) << 2;
    v = (v >> 4 & 0x0f0f0f0fu) | (v & 0x0f0f0f0fu) << 4;
    return __builtin_bswap32(v);
}
static __forceinline__ unsigned long long __brevll(unsigned long long v) {
    return (unsigned long long)__brev((unsigned)v) << 32 | __brev((unsigned)(v >> 32));
}
// Selects four of the eight bytes of y:x, each by the low three bits of a nibble of s.
static __forceinline__ unsigned __byte_perm(unsigned x, unsigned y, unsigned s) {
    const unsigned long long all = (unsigned long long)y << 32 | x;
    unsigned out = 0;
    for (unsigned i = 0; i < 4; i++) out |= (unsigned)(all >> 8 * (s >> 4 * i & 7) & 0xff) << 8 * i;
    return out;
}
static __forceinline__ unsigned __bitextract_u32(unsigned v, unsigned offset, unsigned width) {
    return v >> (offset & 31) & ((1u << (width & 31)) - 1);
}
static __forceinline__ uint64_t __bitextract_u64(uint64_t v, unsigned offset, unsigned width) {
    return v >> (offset & 63) & ((1ull << (width & 63)) - 1);
}
// Replaces a bit field of v by the low bits of `from`.
static __forceinline__ unsigned __bitinsert_u32(unsigned v, unsigned from, unsigned offset, unsigned width) {
    const unsigned mask = ((1u << (width & 31)) - 1) << (offset & 31);
    return (v & ~mask) | (from << (offset & 31) & mask);
}
static __forceinline__ uint64_t __bitinsert_u64(uint64_t v, uint64_t from, unsigned offset, unsigned width) {
    const uint64_t mask = ((1ull << (width & 63)) - 1) << (offset & 63);
    return (v & ~mask) | (from << (offset & 63) & mask);
}

// Shifts the 64 bits hi:lo and returns 32 of them. The plain forms take the shift modulo 32, the c forms
// clamp it to 32.
static __forceinline__ unsigned __funnelshift_l(unsigned lo, unsigned hi, unsigned shift) {
    return (unsigned)(((uint64_t)hi << 32 | lo) << (shift & 31) >> 32);
}
static __forceinline__ unsigned __funnelshift_lc(unsigned lo, unsigned hi, unsigned shift) {
    return shift >= 32 ? lo : __funnelshift_l(lo, hi, shift);
}
static __forceinline__ unsigned __funnelshift_r(unsigned lo, unsigned hi, unsigned shift) {
    return (unsigned)(((uint64_t)hi << 32 | lo) >> (shift & 31));
}
static __forceinline__ unsigned __funnelshift_rc(unsigned lo, unsigned hi, unsigned shift) {
    return shift >= 32 ? hi : __funnelshift_r(lo, hi, shift);
}

// Products: of the low 24 bits of each factor, or the upper half of the full product.
static __forceinline__ int __mul24(int a, int b) {
    return (int)((unsigned)((int)((unsigned)a << 8) >> 8) * (unsigned)((int)((unsigned)b << 8) >> 8));
}
static __forceinline__ int __umul24(unsigned a, unsigned b) { return (int)((a & 0xffffffu) * (b & 0xffffffu)); }
static __forceinline__ int __mulhi(int a, int b) { return (int)((int64_t)a * b >> 32); }
static __forceinline__ unsigned __umulhi(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a * b) >> 32); }
static __forceinline__ long long __mul64hi(long long a, long long b) { return (long long)((__int128)a * b >> 64); }
static __forceinline__ unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
    return (unsigned long long)(((unsigned __int128)a * b) >> 64);
}

// Averages that do not overflow; with an r they round up. Sums of absolute differences.
static __forceinline__ int __hadd(int a, int b) { return (int)(((int64_t)a + b) >> 1); }
static __forceinline__ int __rhadd(int a, int b) { return (int)(((int64_t)a + b + 1) >> 1); }
static __forceinline__ unsigned __uhadd(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a + b) >> 1); }
static __forceinline__ unsigned __urhadd(unsigned a, unsigned b) { return (unsigned)(((uint64_t)a + b + 1) >> 1); }
static __forceinline__ unsigned __sad(int a, int b, unsigned c) {
    return (a < b ? (unsigned)b - (unsigned)a : (unsigned)a - (unsigned)b) + c;
}
static __forceinline__ unsigned __usad(unsigned a, unsigned b, unsigned c) { return (a < b ? b - a : a - b) + c; }

// AMD's dot products of small integers plus c, optionally saturated: two of 16 bits, four of 8, eight of 4.
namespace hiphost {
template <class T>
static __forceinline__ T sum_of_products(long long products, T c, bool saturate) {
    const long long sum = products + c;
    if (!saturate) return (T)sum;
    constexpr long long low = std::is_signed_v<T> ? INT32_MIN : 0, high = std::is_signed_v<T> ? INT32_MAX : UINT32_MAX;
    return (T)(sum < low ? low : sum > high ? high : sum);
}
template <class V>
static __forceinline__ long long product_2(V a, V b) { return (long long)a.x * b.x + (long long)a.y * b.y; }
template <class V>
static __forceinline__ long long product_4(V a, V b) { return product_2(a, b) + (long long)a.z * b.z + (long long)a.w * b.w; }
template <class T>
static __forceinline__ long long product_8(T a, T b) {
    long long sum = 0;
    // Shifts the nibble to the top, then down with sign extension.
    for (int i = 0; i < 32; i += 4) sum += (long long)((T)((unsigned)a << i) >> 28) * ((T)((unsigned)b << i) >> 28);
    return sum;
}
}  // namespace hiphost
static __forceinline__ int amd_mixed_dot(short2 a, short2 b, int c, bool saturate) {
    return hiphost::sum_of_products(hiphost::product_2(a, b), c, saturate);
}
static __forceinline__ unsigned amd_mixed_dot(ushort2 a, ushort2 b, unsigned c, bool saturate) {
    return hiphost::sum_of_products(hiphost::product_2(a, b), c, saturate);
}
static __forceinline__ int amd_mixed_dot(char4 a, char4 b, int c, bool saturate) {
    return hiphost::sum_of_products(hiphost::product_4(a, b), c, saturate);
}
static __forceinline__ unsigned amd_mixed_dot(uchar4 a, uchar4 b, unsigned c, bool saturate) {
    return hiphost::sum_of_products(hiphost::product_4(a, b), c, saturate);
}
static __forceinline__ int amd_mixed_dot(int a, int b, int c, bool saturate) {
    return hiphost::sum_of_products(hiphost::product_8(a, b), c, saturate);
}
static __forceinline__ unsigned amd_mixed_dot(unsigned a, unsigned b, unsigned c, bool saturate) {
    return hiphost::sum_of_products(hiphost::product_8(a, b), c, saturate);
}

static __forceinline__ int __float_as_int(float v) { return hiphost::bits<int>(v); }
static __forceinline__ unsigned __float_as_uint(float v) { return hiphost::bits<unsigned>(v); }
static __forceinline__ float __int_as_float(int v) { return hiphost::bits<float>(v); }
static __forceinline__ float __uint_as_float(unsigned v) { return hiphost::bits<float>(v); }
static __forceinline__ long long __double_as_longlong(double v) { return hiphost::bits<long long>(v); }
static __forceinline__ double __longlong_as_double(long long v) { return hiphost::bits<double>(v); }
static __forceinline__ int __double2hiint(double v) { return (int)(hiphost::bits<uint64_t>(v) >> 32); }
static __forceinline__ int __double2loint(double v) { return (int)hiphost::bits<uint64_t>(v); }
static __forceinline__ double __hiloint2double(int hi, int lo) {
    return hiphost::bits<double>((uint64_t)(unsigned)hi << 32 | (unsigned)lo);
}

template <class T>
static __forceinline__ T __ldg(const T* p) {
    return *p;
}

// Hints that Clang has as built-ins and GCC does not.
#if !defined(__clang__)
#define __builtin_assume(condition) ((void)0)
#define __builtin_nontemporal_load(p) (*(p))
#define __builtin_nontemporal_store(value, p) ((void)(*(p) = (value)))
#endif
