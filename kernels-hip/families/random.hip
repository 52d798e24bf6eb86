//! Random numbers from Philox4x32-10: uniform, normal, integers, Bernoulli, dropout.
//
// Launch: one-dimensional, block 256. Every kernel has a grid-stride loop, so any grid is right; src/launch.rs chooses one. No shared
// memory, no barriers.
//
// Philox4x32-10 is Salmon, Moraes, Dror, Shaw: Parallel Random Numbers: As Easy as 1, 2, 3 (2011). The key is the seed. The counter has the
// block number in its low half and the stream in its high half. A block is four words of 32 bits.
//   Four elements a block: element i has word i % 4 of block i / 4 (bernoulli, dropout, and floats that compute in f32).
//   Two elements a block: element i has words 2(i % 2), the low half, and 2(i % 2) + 1 of block i / 2 (randint, f64).
// i is the row-major number of the element, so results do not depend on the launch. Everything computed from the words is fma, sqrt,
// division and conversions of IEEE 754, without library functions, so every device gives the same bits.
#include "portable.hpp"

namespace hipstack {

// count elements, numbered from `first` on.
struct RandomArgs { u64 count, first, seed, stream; };
// One input. contiguous != 0: it is tight, and dims and strides are not read.
struct Map1 {
    u64 count;
    u32 rank, contiguous;
    u64 dims[MAX_RANK], a[MAX_RANK];
};
SIZE(RandomArgs, 32) OFFSET(RandomArgs, first, 8) OFFSET(RandomArgs, stream, 24)
SIZE(Map1, 144) OFFSET(Map1, dims, 16) OFFSET(Map1, a, 80)

// ---- words ------------------------------------------------------------------------------------------------------------
struct Words { u32 at[4]; };

DEVICE Words philox(u64 block, u64 stream, u64 seed) {
    u32 c0 = (u32)block, c1 = (u32)(block >> 32), c2 = (u32)stream, c3 = (u32)(stream >> 32);
    u32 k0 = (u32)seed, k1 = (u32)(seed >> 32);
    UNROLL
    for (u32 round = 0; round < 10; round++) {
        const u64 p0 = (u64)0xd2511f53u * c0, p1 = (u64)0xcd9e8d57u * c2;
        c0 = (u32)(p1 >> 32) ^ c1 ^ k0;
        c2 = (u32)(p0 >> 32) ^ c3 ^ k1;
        c1 = (u32)p1;
        c3 = (u32)p0;
        k0 += 0x9e3779b9u;
        k1 += 0xbb67ae85u;
    }
    return {{c0, c1, c2, c3}};
}
DEVICE u64 low_pair(const Words& w) { return (u64)w.at[1] << 32 | w.at[0]; }
DEVICE u64 high_pair(const Words& w) { return (u64)w.at[3] << 32 | w.at[2]; }

// ---- loops -----------------------------------------------------------------------------------------------------------
// Calls f(words, at) for each Philox block of N elements, where `at` is the index of its first element. Indices before 0 wrap, which makes
// them fail the check against count.
template <u32 N, class F> DEVICE void for_blocks(const RandomArgs& args, F f) {
    const u64 begin = args.first / N, end = (args.first + args.count + N - 1) / N;
    const u64 first = args.first;
    for (u64 block = begin + thread_number(); block < end; block += thread_count())
        f(philox(block, args.stream, args.seed), block * N - first);
}

template <class A, u32 N> struct Group { A at[N]; };

DEVICE bool is_whole(u64 at, u64 count, u32 n) { return at < count && count - at >= n; }

template <u32 N> DEVICE void store_group(T* out, u64 count, u64 at, const Group<T, N>& group) {
    constexpr u32 P = N * sizeof(T) <= ACCESS ? N : ACCESS / sizeof(T);
    if (is_whole(at, count, N) && is_aligned<T, P>(out + at)) {
        UNROLL
        for (u32 first = 0; first < N; first += P) {
            Pack<T, P> pack;
            UNROLL
            for (u32 j = 0; j < P; j++) pack.at[j] = group.at[first + j];
            write_pack<P>(out + at + first, pack);
        }
    } else {
        UNROLL
        for (u32 j = 0; j < N; j++)
            if (at + j < count) out[at + j] = group.at[j];
    }
}

#if DTYPE_IS_FLOAT
// ---- floats ----------------------------------------------------------------------------------------------------------
// Elements of a Philox block.
static constexpr u32 LANES = sizeof(C) == 4 ? 4 : 2;

// z^0 c0 + z^1 c1 + …
template <class F> DEVICE F horner(F, F last) { return last; }
template <class F, class... Rest> DEVICE F horner(F z, F first, Rest... rest) { return m_fma(z, horner(z, rest...), first); }

// Multiples of 2^-24 or 2^-53 in [0, 1).
DEVICE Group<f32, 4> units(const Words& w, f32) {
    Group<f32, 4> u;
    UNROLL
    for (u32 j = 0; j < 4; j++) u.at[j] = (f32)(w.at[j] >> 8) * 0x1p-24f;
    return u;
}
DEVICE Group<f64, 2> units(const Words& w, f64) {
    return {{(f64)(low_pair(w) >> 11) * 0x1p-53, (f64)(high_pair(w) >> 11) * 0x1p-53}};
}

// The logarithm of a normal number: u = 2^k m with m close to 1, and log m = 2 artanh s by its Taylor series.
DEVICE f32 log_of(f32 u) {
    const i32 k = (i32)(bits_of(u) - 0x3f3504f3u) >> 23;
    const f32 f = from_bits(bits_of(u) - ((u32)k << 23)) - 1.0f;
    const f32 s = f / (2.0f + f), z = s * s, t = s + s;
    const f32 series = horner(z, 1.0f / 3, 1.0f / 5, 1.0f / 7, 1.0f / 9);
    return m_fma((f32)k, 0x1.62e43p-1f, m_fma(t * z, series, t));
}
DEVICE f64 log_of(f64 u) {
    const i64 k = (i64)(bits_of(u) - 0x3fe6a09e667f3bcdull) >> 52;
    const f64 f = from_bits(bits_of(u) - ((u64)k << 52)) - 1.0;
    const f64 s = f / (2.0 + f), z = s * s, t = s + s;
    const f64 series = horner(z, 1.0 / 3, 1.0 / 5, 1.0 / 7, 1.0 / 9, 1.0 / 11, 1.0 / 13, 1.0 / 15, 1.0 / 17, 1.0 / 19, 1.0 / 21);
    return m_fma((f64)k, 0x1.62e42fefa39efp-1, m_fma(t * z, series, t));
}

// Cosine and sine, times r, of quarter turns plus an angle of at most an eighth of a turn, by their Taylor series.
template <class F> DEVICE Group<F, 2> on_circle(F r, u32 quarters, F angle) {
    const F z = angle * angle;
    F sine, cosine;
    if constexpr (sizeof(F) == 4) {
        sine = horner(z, -1.0f / 6, 1.0f / 120, -1.0f / 5040, 1.0f / 362880);
        cosine = horner(z, -1.0f / 2, 1.0f / 24, -1.0f / 720, 1.0f / 40320, -1.0f / 3628800);
    } else {
        sine = horner(z, -1.0 / 6, 1.0 / 120, -1.0 / 5040, 1.0 / 362880, -1.0 / 39916800, 1.0 / 6227020800.0,
                      -1.0 / 1307674368000.0, 1.0 / 355687428096000.0);
        cosine = horner(z, -1.0 / 2, 1.0 / 24, -1.0 / 720, 1.0 / 40320, -1.0 / 3628800, 1.0 / 479001600,
                        -1.0 / 87178291200.0, 1.0 / 20922789888000.0);
    }
    sine = m_fma(angle * z, sine, angle);
    cosine = m_fma(z, cosine, F(1));
    const F x = (quarters & 1) != 0 ? sine : cosine, y = (quarters & 1) != 0 ? cosine : sine;
    return {{r * (((quarters + 1) & 2) != 0 ? -x : x), r * ((quarters & 2) != 0 ? -y : y)}};
}

// Box-Muller transform: two words give two numbers. The first word gives u in (0, 1], the second is an angle in fractions of a turn.
DEVICE Group<f32, 2> pair(u32 first, u32 second) {
    const f32 u = m_fma((f32)first, 0x1p-32f, 0x1p-33f);
    const u32 quarters = (second + 0x20000000u) >> 30;
    const f32 angle = (f32)(i32)(second - (quarters << 30)) * (0x1.921fb6p+2f * 0x1p-32f);
    return on_circle(m_sqrt(-2.0f * log_of(u)), quarters, angle);
}
DEVICE Group<f64, 2> pair(u64 first, u64 second) {
    const f64 u = (f64)((first >> 11) + 1) * 0x1p-53;
    const u64 turn = second >> 11, quarters = (turn + (1ull << 50)) >> 51;
    const f64 angle = (f64)(i64)(turn - (quarters << 51)) * (0x1.921fb54442d18p+2 * 0x1p-53);
    return on_circle(m_sqrt(-2.0 * log_of(u)), (u32)quarters, angle);
}
DEVICE Group<f32, 4> normals(const Words& w, f32) {
    const Group<f32, 2> a = pair(w.at[0], w.at[1]), b = pair(w.at[2], w.at[3]);
    return {{a.at[0], a.at[1], b.at[0], b.at[1]}};
}
DEVICE Group<f64, 2> normals(const Words& w, f64) { return pair(low_pair(w), high_pair(w)); }
#else
// The high half of a product.
DEVICE u64 multiply_high(u64 a, u64 b) {
    const u64 a0 = (u32)a, a1 = a >> 32, b0 = (u32)b, b1 = b >> 32;
    const u64 low = a1 * b0 + (a0 * b0 >> 32), high = a0 * b1 + (u32)low;
    return a1 * b1 + (low >> 32) + (high >> 32);
}
#endif

// ---- kernels ----------------------------------------------------------------------------------------------------------
#define NAMED(op) PASTE4(random_, op, _, DTYPE)

#if DTYPE_IS_FLOAT
// low + u (high - low), by one fma and one rounding. A result that rounds to high is replaced by `below`, the number before high.
KERNEL(NAMED(uniform), T* out, RandomArgs args, T low, T high, T below) {
    const C least = widen(low), end = widen(high), width = end - least;
    for_blocks<LANES>(args, [&](const Words& words, u64 at) {
        const Group<C, LANES> u = units(words, C());
        Group<T, LANES> group;
        UNROLL
        for (u32 j = 0; j < LANES; j++) {
            const T x = narrow<T>(m_fma(u.at[j], width, least));
            group.at[j] = widen(x) < end ? x : below;
        }
        store_group(out, args.count, at, group);
    });
}

// mean + deviation z, by one fma and one rounding.
KERNEL(NAMED(normal), T* out, RandomArgs args, T mean, T deviation) {
    const C m = widen(mean), d = widen(deviation);
    for_blocks<LANES>(args, [&](const Words& words, u64 at) {
        const Group<C, LANES> z = normals(words, C());
        Group<T, LANES> group;
        UNROLL
        for (u32 j = 0; j < LANES; j++) group.at[j] = narrow<T>(m_fma(z.at[j], d, m));
        store_group(out, args.count, at, group);
    });
}

// Zero where the word is below threshold, else x times scale, rounded to the compute type and then to T.
KERNEL(NAMED(dropout), const T* in, T* out, Map1 map, RandomArgs args, u64 threshold, f64 scale) {
    const C factor = (C)scale;
    for_blocks<4>(args, [&](const Words& words, u64 at) {
        Group<T, 4> group;
        UNROLL
        for (u32 j = 0; j < 4; j++) {
            const u64 i = at + j;
            group.at[j] = narrow<T>(C(0));
            if (i < args.count && words.at[j] >= threshold) {
                const u64 from = map.contiguous != 0 ? i : offsets(i, map.count, map.rank, map.dims, map.a, map.a).a;
                group.at[j] = narrow<T>(widen(in[from]) * factor);
            }
        }
        store_group(out, args.count, at, group);
    });
}
#else
// low + the high half of the product of a 64-bit word and span.
KERNEL(NAMED(randint), T* out, RandomArgs args, i64 low, u64 span) {
    for_blocks<2>(args, [&](const Words& words, u64 at) {
        const u64 a = multiply_high(low_pair(words), span), b = multiply_high(high_pair(words), span);
        store_group(out, args.count, at, Group<T, 2>{{(T)((u64)low + a), (T)((u64)low + b)}});
    });
}
#endif

// One where the word is below threshold, else zero.
KERNEL(NAMED(bernoulli), T* out, RandomArgs args, u64 threshold) {
    const T zero = narrow<T>(C(0)), one = narrow<T>(C(1));
    for_blocks<4>(args, [&](const Words& words, u64 at) {
        Group<T, 4> group;
        UNROLL
        for (u32 j = 0; j < 4; j++) group.at[j] = words.at[j] < threshold ? one : zero;
        store_group(out, args.count, at, group);
    });
}

} // namespace hipstack
