//! Elementwise operations: unary, binary, comparison, affine, clamp, cast, fill, const_set, copy.
//
// Launch: one-dimensional, block 256. Every kernel has a grid-stride loop, so any grid is right; src/launch.rs chooses one. No shared
// memory, no barriers.
//
// in and out may be the same array if both are tight and have the same dtype; else they must not overlap. Pointers include the offset of
// the view. dims[0] is the outermost dimension. Strides count elements; negative ones wrap. The output of all kernels but const_set and
// copy is tight: row-major without gaps.
#include "portable.hpp"
#include "activations.hpp"
#include "gates.hpp"
#include "runs.hpp"

namespace hipstack {

// One input. contiguous != 0: it is tight, and dims and strides are not read.
struct Map1 {
    u64 count;
    u32 rank, contiguous;
    u64 dims[MAX_RANK], a[MAX_RANK];
};
// Two inputs. flags: 1 a is tight, 2 b is tight, 4 a is a scalar, 8 b is a scalar. Dims and strides are not read if each input is tight or
// a scalar.
struct Map2 {
    u64 count;
    u32 rank, flags;
    u64 dims[MAX_RANK], a[MAX_RANK], b[MAX_RANK];
};
// A copy, strided on both sides. flags: 1 src is tight, 2 dst is tight; with both, dims and strides are not read.
// const_set reads dst only.
struct CopyMap {
    u64 count;
    u32 rank, flags;
    u64 dims[MAX_RANK], src[MAX_RANK], dst[MAX_RANK];
};
SIZE(Map1, 144) OFFSET(Map1, dims, 16) OFFSET(Map1, a, 80)
SIZE(Map2, 208) OFFSET(Map2, dims, 16) OFFSET(Map2, a, 80) OFFSET(Map2, b, 144)
SIZE(CopyMap, 208) OFFSET(CopyMap, dims, 16) OFFSET(CopyMap, src, 80) OFFSET(CopyMap, dst, 144)
static constexpr u32 A_TIGHT = 1, B_TIGHT = 2, A_SCALAR = 4, B_SCALAR = 8;
static constexpr u32 SRC_TIGHT = 1, DST_TIGHT = 2;

// ---- GPU loops -------------------------------------------------------------------------------------------------------
// Elements that a thread accesses at once: 16 bytes of the larger type.
template <class A, class O> DEVICE constexpr u32 pack_size() { return ACCESS / (sizeof(A) > sizeof(O) ? sizeof(A) : sizeof(O)); }
// Strided loops over fewer elements use packs, with 32-bit divisions.
static constexpr u64 BY_PACKS = 1ull << 32;
// The offsets of element i of a strided loop in two arrays, and the number of elements left in its row.
struct Run {
    Offsets at;
    u32 left;
};
DEVICE Run run_of(u32 i, u32 rank, const u64* dims, const u64* a, const u64* b) {
    const u32 inner = (u32)dims[rank - 1], row = i / inner, x = i - row * inner;
    const Offsets at = offsets_as<u32>(row, rank - 1, dims, a, b);
    return Run{{at.a + x * a[rank - 1], at.b + x * b[rank - 1]}, inner - x};
}
// Loads N elements of a row, starting at p.
template <u32 N, class A> DEVICE Pack<A, N> load_steps(const A* p, u64 step) {
    if (step == 1 && is_aligned<A, N>(p)) return load_pack<N>(p);
    Pack<A, N> out;
    if (step == 0) {
        const A only = *p;
        UNROLL
        for (u32 j = 0; j < N; j++) out.at[j] = only;
    } else {
        UNROLL
        for (u32 j = 0; j < N; j++) out.at[j] = p[j * step];
    }
    return out;
}
// Whether every row of an array is aligned for packs.
template <u32 N, class O> DEVICE bool rows_are_aligned(const O* out, u32 rank, const u64* strides) {
    u64 all = 0;
    for (u32 d = 0; d + 1 < rank; d++) all |= strides[d];
    return is_aligned<O, N>(out) && all % N == 0;
}

// ---- loops -----------------------------------------------------------------------------------------------------------
// out[i] = f(a[i]), both tight.
template <class A, class O, class F> DEVICE void tight(const A* a, O* out, u64 count, F f) {
    if constexpr (ON_HOST) {
        for_runs(count, [&](u64 i, u64 n) { run1(a + i, 1, out + i, 1, n, f); });
    } else {
        // Packs in flight in a thread: two if one side of a pack has less than 16 bytes.
        constexpr u32 N = pack_size<A, O>(), TURNS = sizeof(A) == sizeof(O) ? 1 : 2;
        const u64 packs = is_aligned<A, N>(a) && is_aligned<O, N>(out) ? count / N : 0;
        for (u64 p = (u64)blockIdx.x * (TURNS * blockDim.x) + threadIdx.x; p < packs; p += thread_count() * TURNS) {
            Pack<A, N> x[TURNS] = {};
            UNROLL
            for (u32 k = 0; k < TURNS; k++)
                if (k == 0 || p + k * blockDim.x < packs) x[k] = load_pack<N>(a + (p + k * blockDim.x) * N);
            UNROLL
            for (u32 k = 0; k < TURNS; k++) {
                if (k > 0 && p + k * blockDim.x >= packs) break;
                Pack<O, N> y;
                UNROLL
                for (u32 j = 0; j < N; j++) y.at[j] = f(x[k].at[j]);
                write_pack<N>(out + (p + k * blockDim.x) * N, y);
            }
        }
        for (u64 i = packs * N + thread_number(); i < count; i += thread_count()) out[i] = f(a[i]);
    }
}

// out[so(i)] = f(a[sa(i)]); with OUT_TIGHT out[i] = f(a[sa(i)]).
template <bool OUT_TIGHT, class A, class O, class F>
DEVICE void strided(const A* a, O* out, u64 count, u32 rank, const u64* dims, const u64* sa, const u64* so, F f) {
    if constexpr (ON_HOST) {
        const u64 step_a = rank > 0 ? sa[rank - 1] : 0, step_out = OUT_TIGHT ? 1 : rank > 0 ? so[rank - 1] : 0;
        for_strided_runs(count, rank, dims, sa, so, [&](u64 i, Offsets at, u64 n) {
            run1(a + at.a, step_a, out + (OUT_TIGHT ? i : at.b), step_out, n, f);
        });
    } else {
        constexpr u32 N = pack_size<A, O>();
        const u64 first = thread_number(), step = thread_count();
        const u64 inner = rank > 0 ? dims[rank - 1] : 0, step_a = rank > 0 ? sa[rank - 1] : 0;
        u64 done = 0;
        if constexpr (OUT_TIGHT) {
            if (inner >= N && count < BY_PACKS && is_aligned<O, N>(out)) {
                done = count / N * N;
                for (u64 i = first * N; i < done; i += step * N) {
                    const Run run = run_of((u32)i, rank, dims, sa, sa);
                    if (run.left < N) {
                        // The pack spans two rows.
                        const u64 next = run_of((u32)i + run.left, rank, dims, sa, sa).at.a;
                        ROLLED
                        for (u32 j = 0; j < N; j++)
                            out[i + j] = f(a[j < run.left ? run.at.a + j * step_a : next + (j - run.left) * step_a]);
                        continue;
                    }
                    Pack<A, N> x = load_steps<N>(a + run.at.a, step_a);
                    Pack<O, N> y;
                    UNROLL
                    for (u32 j = 0; j < N; j++) y.at[j] = f(x.at[j]);
                    write_pack<N>(out + i, y);
                }
            }
        } else if (inner >= N && count < BY_PACKS && so[rank - 1] == 1 && rows_are_aligned<N>(out, rank, so)) {
            // Each row is split into packs; its last one may be partial.
            done = count;
            const u32 each = (u32)((inner + N - 1) / N), packs = (u32)count / (u32)inner * each;
            for (u64 p = first; p < packs; p += step) {
                const u32 row = (u32)p / each, x = ((u32)p - row * each) * N;
                const Offsets at = offsets_as<u32>(row, rank - 1, dims, sa, so);
                const A* const from = a + at.a + x * step_a;
                O* const to = out + at.b + x;
                if (inner - x >= N) {
                    Pack<A, N> v = load_steps<N>(from, step_a);
                    Pack<O, N> y;
                    UNROLL
                    for (u32 j = 0; j < N; j++) y.at[j] = f(v.at[j]);
                    write_pack<N>(to, y);
                } else {
                    for (u32 j = 0; j < inner - x; j++) to[j] = f(from[j * step_a]);
                }
            }
        }
        for (u64 i = done + first; i < count; i += step) {
            const Offsets at = offsets(i, count, rank, dims, sa, so);
            out[OUT_TIGHT ? i : at.b] = f(a[at.a]);
        }
    }
}

template <class A, class O, class F> DEVICE void unary(const A* a, O* out, const Map1& m, F f) {
    if (m.contiguous != 0) tight(a, out, m.count, f);
    else strided<true>(a, out, m.count, m.rank, m.dims, m.a, m.a, f);
}

template <class A, class O, class F> DEVICE void binary(const A* a, const A* b, O* out, const Map2& m, F f) {
    const bool a_flat = (m.flags & (A_TIGHT | A_SCALAR)) != 0, b_flat = (m.flags & (B_TIGHT | B_SCALAR)) != 0;
    const bool a_moves = (m.flags & A_SCALAR) == 0, b_moves = (m.flags & B_SCALAR) == 0;
    if constexpr (ON_HOST) {
        if (a_flat && b_flat) for_runs(m.count, [&](u64 i, u64 n) {
            run2(a + (a_moves ? i : 0), a_moves, b + (b_moves ? i : 0), b_moves, out + i, n, f);
        });
        else for_strided_runs(m.count, m.rank, m.dims, m.a, m.b, [&](u64 i, Offsets at, u64 n) {
            run2(a + at.a, m.rank > 0 ? m.a[m.rank - 1] : 0, b + at.b, m.rank > 0 ? m.b[m.rank - 1] : 0, out + i, n, f);
        });
    } else {
        constexpr u32 N = pack_size<A, O>();
        const u64 first = thread_number(), step = thread_count();
        const bool flat = a_flat && b_flat;
        u64 done = 0;
        if (flat) {
            const bool aligned = (!a_moves || is_aligned<A, N>(a)) && (!b_moves || is_aligned<A, N>(b)) && is_aligned<O, N>(out);
            const u64 packs = aligned ? m.count / N : 0;
            done = packs * N;
            for (u64 p = first; p < packs; p += step) {
                const Pack<A, N> x = load_or_repeat<N>(a, a_moves, p), y = load_or_repeat<N>(b, b_moves, p);
                Pack<O, N> z;
                UNROLL
                for (u32 j = 0; j < N; j++) z.at[j] = f(x.at[j], y.at[j]);
                write_pack<N>(out + p * N, z);
            }
        } else if (m.rank > 0 && m.dims[m.rank - 1] >= N && m.count < BY_PACKS && is_aligned<O, N>(out)) {
            const u64 step_a = m.a[m.rank - 1], step_b = m.b[m.rank - 1];
            done = m.count / N * N;
            for (u64 i = first * N; i < done; i += step * N) {
                const Run run = run_of((u32)i, m.rank, m.dims, m.a, m.b);
                if (run.left < N) {
                    // The pack spans two rows.
                    const Offsets next = run_of((u32)i + run.left, m.rank, m.dims, m.a, m.b).at;
                    ROLLED
                    for (u32 j = 0; j < N; j++) {
                        const bool here = j < run.left;
                        const Offsets start = here ? run.at : next;
                        const u32 k = here ? j : j - run.left;
                        out[i + j] = f(a[start.a + k * step_a], b[start.b + k * step_b]);
                    }
                    continue;
                }
                Pack<A, N> x = load_steps<N>(a + run.at.a, step_a), y = load_steps<N>(b + run.at.b, step_b);
                Pack<O, N> z;
                UNROLL
                for (u32 j = 0; j < N; j++) z.at[j] = f(x.at[j], y.at[j]);
                write_pack<N>(out + i, z);
            }
        }
        for (u64 i = done + first; i < m.count; i += step) {
            const Offsets at = flat ? Offsets{a_moves ? i : 0, b_moves ? i : 0} : offsets(i, m.count, m.rank, m.dims, m.a, m.b);
            out[i] = f(a[at.a], b[at.b]);
        }
    }
}

// ---- kernels of an operation ------------------------------------------------------------------------------------------
// From storage to the compute type, the operation, and back with one rounding.
template <class F> struct Rounded {
    F f;
    METHOD T operator()(T x) const { return narrow<T>(f(widen(x))); }
    METHOD T operator()(T x, T y) const { return narrow<T>(f(widen(x), widen(y))); }
};
template <class F> struct Compared {
    METHOD u8 operator()(T x, T y) const { return F()(widen(x), widen(y)); }
};
template <class D> struct Converted {
    METHOD D operator()(T x) const { return convert<D>(x); }
};
struct Same {
    METHOD T operator()(T x) const { return x; }
};
// Ignores the old value, so that it is not loaded.
struct Constant {
    T value;
    METHOD T operator()(T) const { return value; }
};

#define NAMED(op) PASTE4(elementwise_, op, _, DTYPE)

// The kernel of a functor op_op in the compute type.
#define UNARY_OF(op) \
    KERNEL(NAMED(op), const T* in, T* out, Map1 map) { unary(in, out, map, Rounded<op##_op>{}); }
#define UNARY_WITH_TWO_OF(op)                                          \
    KERNEL(NAMED(op), const T* in, T* out, Map1 map, T first, T second) { \
        unary(in, out, map, Rounded<op##_op>{{widen(first), widen(second)}}); \
    }
#define BINARY_OF(op) \
    KERNEL(NAMED(op), const T* a, const T* b, T* out, Map2 map) { binary(a, b, out, map, Rounded<op##_op>{}); }

// The functor and the kernel of an operation whose statements are these, for x, for x and y, or for x and a scalar.
#define UNARY(op, ...)                                        \
    struct op##_op {                                          \
        template <class C> METHOD C operator()(C x) const { __VA_ARGS__ } \
    };                                                        \
    UNARY_OF(op)
#define BINARY(op, ...)                                       \
    struct op##_op {                                          \
        template <class C> METHOD C operator()(C x, C y) const { __VA_ARGS__ } \
    };                                                        \
    BINARY_OF(op)
#define UNARY_WITH(op, scalar, ...)                           \
    struct op##_op {                                          \
        C scalar;                                             \
        METHOD C operator()(C x) const { __VA_ARGS__ }        \
    };                                                        \
    KERNEL(NAMED(op), const T* in, T* out, Map1 map, T given) { unary(in, out, map, Rounded<op##_op>{{widen(given)}}); }
// A comparison is 1 where the expression holds, else 0.
#define COMPARE(op, expression)                               \
    struct op##_op {                                          \
        template <class C> METHOD u8 operator()(C x, C y) const { return expression; } \
    };                                                        \
    KERNEL(NAMED(op), const T* a, const T* b, u8* out, Map2 map) { binary(a, b, out, map, Compared<op##_op>{}); }
#define CAST(to) \
    KERNEL(PASTE4(elementwise_cast_, DTYPE, _, to), const T* in, to* out, Map1 map) { unary(in, out, map, Converted<to>{}); }

// ---- operations of every dtype, in the compute type -------------------------------------------------------------------
// Integers wrap: arithmetic in an unsigned type, then back.
#define WRAPPING(expression)                \
    if constexpr (!Dtype<C>::FLOAT) {       \
        typedef typename Dtype<C>::Wrap W;  \
        return (C)(expression);             \
    } else

UNARY(neg, WRAPPING(W(0) - W(x)) { return -x; })
struct abs_op {
    template <class C> METHOD C operator()(C x) const {
        if constexpr (Dtype<C>::FLOAT) return m_abs(x);
        else if constexpr (Dtype<C>::SIGNED) return x < C(0) ? neg_op()(x) : x;
        else return x;
    }
};
UNARY_OF(abs)
UNARY(sqr, WRAPPING(W(x) * W(x)) { return x * x; })
// 1, 0 or -1; 0 for NaN and +0 for -0, as in candle.
struct sign_op {
    template <class C> METHOD C operator()(C x) const {
        if constexpr (Dtype<C>::SIGNED) return (C)((x > C(0)) - (x < C(0)));
        else return (C)(x > C(0));
    }
};
UNARY_OF(sign)
UNARY(relu, return maximum(x, C(0));)

BINARY(add, WRAPPING(W(x) + W(y)) { return x + y; })
BINARY(sub, WRAPPING(W(x) - W(y)) { return x - y; })
BINARY(mul, WRAPPING(W(x) * W(y)) { return x * y; })
// Integers: x/0 = 0, MIN/-1 = MIN, x%0 = 0, the remainder has the sign of x.
struct div_op {
    template <class C> METHOD C operator()(C x, C y) const {
        if constexpr (Dtype<C>::FLOAT) return x / y;
        else {
            if (y == C(0)) return C(0);
            if (Dtype<C>::SIGNED && y == C(-1)) return neg_op()(x);
            return (C)(x / y);
        }
    }
};
BINARY_OF(div)
struct rem_op {
    template <class C> METHOD C operator()(C x, C y) const {
        if constexpr (Dtype<C>::FLOAT) return m_fmod(x, y);
        else {
            if (y == C(0) || (Dtype<C>::SIGNED && y == C(-1))) return C(0);
            return (C)(x % y);
        }
    }
};
BINARY_OF(rem)
BINARY(minimum, return minimum(x, y);)
BINARY(maximum, return maximum(x, y);)

COMPARE(eq, x == y)
COMPARE(ne, x != y)
COMPARE(lt, x < y)
COMPARE(le, x <= y)
COMPARE(gt, x > y)
COMPARE(ge, x >= y)

struct affine_op {
    C factor, summand;
    template <class C> METHOD C operator()(C x) const {
        WRAPPING(W(x) * W(factor) + W(summand)) { return m_fma(x, factor, summand); }
    }
};
UNARY_WITH_TWO_OF(affine)
// The result is NaN if any of the three numbers is. The lower bound is applied first.
struct clamp_op {
    C lowest, highest;
    METHOD C operator()(C x) const { return minimum(maximum(x, lowest), highest); }
};
UNARY_WITH_TWO_OF(clamp)

// ---- operations of floats, in the compute type ------------------------------------------------------------------------
#if DTYPE_IS_FLOAT
UNARY(sqrt, return m_sqrt(x);)
UNARY(rsqrt, return C(1) / m_sqrt(x);)
UNARY(recip, return C(1) / x;)
UNARY(exp, return m_exp(x);)
UNARY(log, return m_log(x);)
UNARY(sin, return m_sin(x);)
UNARY(cos, return m_cos(x);)
UNARY(tan, return m_tan(x);)
UNARY(tanh, return m_tanh(x);)
UNARY(erf, return m_erf(x);)
UNARY(ceil, return m_ceil(x);)
UNARY(floor, return m_floor(x);)
// Half away from zero.
UNARY(round, return m_round(x);)
BINARY(pow, return m_pow(x, y);)

// exp is only taken of what is not positive: it cannot overflow.
struct sigmoid_op {
    template <class C> METHOD C operator()(C x) const {
        if constexpr (SMALL) return quick_sigmoid(x);
        const C e = m_exp(-m_abs(x));
        return (x < C(0) ? e : C(1)) / (C(1) + e);
    }
};
UNARY_OF(sigmoid)
UNARY_OF(silu)
UNARY_OF(gelu)
BINARY(silu_mul, return silu_op()(x) * y;)
BINARY(gelu_mul, return gelu_op()(x) * y;)
// x/2 erfc(-x/√2). The rounding error of the argument is put back through the derivative of erfc.
struct gelu_erf_op {
    template <class C> METHOD C operator()(C x) const {
        if constexpr (SMALL) return quick_gelu_erf(x);
        if constexpr (sizeof(C) == 4) return short_gelu_erf(x);
        constexpr f64 R = 0.70710678118654752440084436210485;
        constexpr C r = (C)R, r1 = sizeof(C) == 4 ? (C)(R - (f64)r) : (C)-4.8336466567264565e-17;
        const C z = -x * r, rest = -(m_fma(x, r, z) + x * r1);
        const C slope = z > C(0) && z < C(30) ? m_exp(-z * z) * C(1.1283791670955125738961589031215) * rest : C(0);
        return C(0.5) * x * (m_erfc(z) - slope);
    }
};
UNARY_OF(gelu_erf)
// log(1 + exp(x)) without overflow.
UNARY(softplus, return (x > C(0) ? x : C(0)) + m_log1p(m_exp(-m_abs(x)));)

UNARY_WITH(powf, exponent, return m_pow(x, exponent);)
UNARY_WITH(elu, alpha, return x > C(0) ? x : alpha * m_expm1(x);)
UNARY_WITH(leaky_relu, slope, return x > C(0) ? x : x * slope;)
#endif

// ---- other kernels ----------------------------------------------------------------------------------------------------
CAST(u8) CAST(u32) CAST(i16) CAST(i32) CAST(i64)
CAST(f8e4m3) CAST(bf16) CAST(f16) CAST(f32) CAST(f64)

KERNEL(NAMED(fill), T* out, u64 count, T value) { tight(out, out, count, Constant{value}); }
KERNEL(NAMED(const_set), T* out, CopyMap map, T value) {
    if ((map.flags & DST_TIGHT) != 0) tight(out, out, map.count, Constant{value});
    else strided<false>(out, out, map.count, map.rank, map.dims, map.dst, map.dst, Constant{value});
}
KERNEL(NAMED(copy), const T* in, T* out, CopyMap map) {
    if ((map.flags & SRC_TIGHT) != 0 && (map.flags & DST_TIGHT) != 0) tight(in, out, map.count, Same{});
    else strided<false>(in, out, map.count, map.rank, map.dims, map.src, map.dst, Same{});
}

} // namespace hipstack
