//! Statistics over any set of axes, in two passes: var, std (unbiased), norm (Euclidean), log_sum_exp.
//
// Launch: one-dimensional, block a multiple of 64 and at most 256. alone == 0: a block for each output; else a thread for each output. Both
// stride over the outputs, so any grid is right; src/launch/stat.rs chooses.
//
// Outputs are tight. Squares of f32 and bf16 (var, std, norm) are computed in f64, which has the range for them, as on the CPU; this is
// slower on GPUs with few f64 units. Otherwise floats of up to 32 bits are computed in f32, f64 in f64. Results are rounded once to the
// dtype. The summation is in spans, spans in a cascade of three levels, threads in a tree.
//
//   var, std      mean, then Σ(x - mean)², corrected for the rounding of the mean; NaN for fewer than two elements
//   norm          √Σx²; f64 is scaled by a power of two where squares would overflow or underflow
//   log_sum_exp   max + log Σ exp(x - max); -inf if there are no elements
#include "portable.hpp"
#include "block_join.hpp"

namespace hipstack {

// Output o begins at the offset of o in the kept dims. Its element i lies at the offset of i in the reduced dims.
struct StatMap {
    u64 outputs, length;
    u32 kept_rank, reduced_rank;
    u64 kept_dims[MAX_RANK], kept_strides[MAX_RANK], reduced_dims[MAX_RANK], reduced_strides[MAX_RANK];
};
SIZE(StatMap, 280) OFFSET(StatMap, kept_rank, 16) OFFSET(StatMap, kept_dims, 24)
OFFSET(StatMap, kept_strides, 88) OFFSET(StatMap, reduced_dims, 152) OFFSET(StatMap, reduced_strides, 216)

// Contiguous elements of a thread before it moves on to its next span.
static constexpr u32 SPAN = ON_HOST ? 2048 : ACCESS / sizeof(T);
static constexpr u32 LANES = SPAN < 16 ? SPAN : 16;

// A type in which squares neither overflow nor underflow: f64 for types with the range of f32.
template <class E> struct WideOf { typedef f64 Type; };
template <> struct WideOf<f16> { typedef f32 Type; };
template <> struct WideOf<f8e4m3> { typedef f32 Type; };
typedef WideOf<T>::Type Wide;

// ---- what is joined ---------------------------------------------------------------------------------------------------
template <class S> struct Add {
    typedef S Sum;
    static METHOD S identity() { return S(0); }
    static METHOD S join(S a, S b) { return a + b; }
    static METHOD S shuffle(S v, u32 mask) { return shuffle_xor(v, mask); }
};
// Σd² and Σd.
struct Moments { Wide square, sum; };
struct AddMoments {
    typedef Moments Sum;
    static METHOD Sum identity() { return Moments{Wide(0), Wide(0)}; }
    static METHOD Sum join(Sum a, Sum b) { return Moments{a.square + b.square, a.sum + b.sum}; }
    static METHOD Sum shuffle(Sum v, u32 mask) { return Moments{shuffle_xor(v.square, mask), shuffle_xor(v.sum, mask)}; }
};
// NaN is propagated.
struct Most {
    typedef C Sum;
    // -inf: sign and all exponent bits.
    static METHOD C identity() { return from_bits((Dtype<C>::Wrap)(sizeof(C) == 8 ? 0xfff0000000000000ull : 0xff800000ull)); }
    static METHOD C join(C a, C b) { return maximum(a, b); }
    static METHOD C shuffle(C v, u32 mask) { return shuffle_xor(v, mask); }
};

// Sums up a long series: 64 terms on the first level, 64 of those on the second, the rest on the third.
template <class J> struct Cascade {
    typedef typename J::Sum Sum;
    Sum level0 = J::identity(), level1 = J::identity(), level2 = J::identity();
    u32 terms = 0;
    METHOD void add(Sum term) {
        level0 = J::join(level0, term);
        if ((++terms & 63u) != 0) return;
        level1 = J::join(level1, level0);
        level0 = J::identity();
        if ((terms & 4095u) != 0) return;
        level2 = J::join(level2, level1);
        level1 = J::identity();
    }
    METHOD Sum total() const { return J::join(level2, J::join(level1, level0)); }
};

template <class J, u32 HALF = LANES / 2> DEVICE typename J::Sum lanes_total(typename J::Sum (&lane)[LANES]) {
    if constexpr (HALF > 0) {
        UNROLL
        for (u32 l = 0; l < HALF; l++) lane[l] = J::join(lane[l], lane[l + HALF]);
        return lanes_total<J, HALF / 2>(lane);
    } else {
        return lane[0];
    }
}

// ---- one output ------------------------------------------------------------------------------------------------------
// A thread's share of an output's elements: all of them, or every stride-th span from `first` on.
struct Row {
    const T* in;
    const StatMap& map;
    bool tight, shared;
    u64 first, stride;
    u32& turn;
};

DEVICE u64 reduced_offset(const StatMap& m, u64 i) {
    if (m.reduced_rank == 1) return i * m.reduced_strides[0];
    return offsets(i, m.length, m.reduced_rank, m.reduced_dims, m.reduced_strides, m.reduced_strides).a;
}
// n contiguous elements, on the host.
template <class J, class F> SHARED_CODE typename J::Sum tight_span(const T* p, u32 n, F f) {
    typename J::Sum lane[LANES];
    for (u32 l = 0; l < LANES; l++) lane[l] = J::identity();
    u32 i = 0;
    for (; i + LANES <= n; i += LANES) {
        for (u32 l = 0; l < LANES; l++) lane[l] = J::join(lane[l], f(p[i + l]));
    }
    typename J::Sum rest = J::identity();
    for (; i < n; i++) rest = J::join(rest, f(p[i]));
    return J::join(lanes_total<J>(lane), rest);
}
template <class J, class F> DEVICE typename J::Sum strided_span(const Row& r, u64 first, u32 n, F f) {
    typename J::Sum total = J::identity();
    if constexpr (ON_HOST) {
        for (u32 i = 0; i < n; i += 16) {
            typename J::Sum part = J::identity();
            for (u32 j = i; j < n && j < i + 16; j++) part = J::join(part, f(r.in[reduced_offset(r.map, first + j)]));
            total = J::join(total, part);
        }
    } else {
        ROLLED
        for (u32 i = 0; i < n; i++) total = J::join(total, f(r.in[reduced_offset(r.map, first + i)]));
    }
    return total;
}

// Broadcasts the first thread's value to the block. block_join has a barrier between two calls.
template <class S> DEVICE S from_first(S mine) {
    __shared__ S one[1];
    if (threadIdx.x == 0) one[0] = mine;
    __syncthreads();
    return one[0];
}

// Reduces f of the elements with J. Every thread of the row gets the result.
template <class J, class F> DEVICE typename J::Sum total(const Row& r, F f) {
    Cascade<J> sum;
    const u64 length = r.map.length;
    for (u64 i = r.first; i < length; i += r.stride) {
        const u32 n = length - i < SPAN ? (u32)(length - i) : SPAN;
        if constexpr (ON_HOST) {
            sum.add(r.tight ? tight_span<J>(r.in + i, n, f) : strided_span<J>(r, i, n, f));
        } else {
            // For f64 a wide access has only two elements, which does not pay for a second copy of f in the code.
            if (sizeof(T) < 8 && r.tight && n == SPAN && is_aligned<T, SPAN>(r.in)) {
                const Pack<T, SPAN> pack = load_pack<SPAN>(r.in + i);
                typename J::Sum lane[LANES];
                UNROLL
                for (u32 l = 0; l < LANES; l++) lane[l] = f(pack.at[l]);
                sum.add(lanes_total<J>(lane));
            } else {
                sum.add(strided_span<J>(r, i, n, f));
            }
        }
    }
    typename J::Sum all = sum.total();
    if (r.shared) {
        all = from_first(block_join<J>(all, r.turn++));
    }
    return all;
}

// ---- operations -------------------------------------------------------------------------------------------------------
struct Value {
    METHOD C operator()(T v) const { return widen(v); }
};
struct Magnitude {
    METHOD C operator()(T v) const { return m_abs(widen(v)); }
};
struct WideValue {
    METHOD Wide operator()(T v) const { return (Wide)widen(v); }
};
struct Deviation {
    Wide mean;
    METHOD Moments operator()(T v) const {
        const Wide d = (Wide)widen(v) - mean;
        return Moments{d * d, d};
    }
};
struct Square {
    Wide scale;
    METHOD Wide operator()(T v) const {
        const Wide x = (Wide)widen(v) * scale;
        return x * x;
    }
};
struct Exponential {
    C greatest;
    METHOD C operator()(T v) const { return m_exp(widen(v) - greatest); }
};
template <class F> DEVICE bool is_finite(F v) { return v - v == F(0); }

template <bool ROOT> struct Variance {
    METHOD T operator()(const Row& r) const {
        const Wide n = (Wide)r.map.length;
        const Wide mean = total<Add<Wide>>(r, WideValue{}) / n;
        const Moments s = total<AddMoments>(r, Deviation{mean});
        // The mean is off by Σd/n, which adds n (Σd/n)² to Σd².
        const Wide square = is_finite(s.square) ? maximum(s.square - s.sum * (s.sum / n), Wide(0)) : s.square;
        const Wide variance = square / (Wide)(r.map.length - 1);
        const Wide zero = Wide(0);
        return convert<T>(r.map.length < 2 ? zero / zero : ROOT ? m_sqrt(variance) : variance);
    }
};
typedef Variance<false> var_op;
typedef Variance<true> std_op;

struct norm_op {
    METHOD T operator()(const Row& r) const {
        Wide up = 1, down = 1;
        if constexpr (sizeof(T) == 8) {
            constexpr f64 BIG = 0x1p600, SMALL = 0x1p-600;
            const C most = total<Most>(r, Magnitude{});
            if (most > 0x1p400) up = SMALL, down = BIG;
            if (most < 0x1p-400) up = BIG, down = SMALL;
        }
        return convert<T>(m_sqrt(total<Add<Wide>>(r, Square{up})) * down);
    }
};

struct log_sum_exp_op {
    METHOD T operator()(const Row& r) const {
        const C greatest = total<Most>(r, Value{});
        // If the maximum is infinite or NaN, it is the result. All threads of a row take the same branch.
        if (!is_finite(greatest)) return narrow<T>(greatest);
        return narrow<T>(greatest + m_log(total<Add<C>>(r, Exponential{greatest})));
    }
};

// ---- kernels ----------------------------------------------------------------------------------------------------------
template <class Op> DEVICE void statistic(const T* in, T* out, const StatMap& m, bool alone, Op op) {
    const bool tight = m.reduced_rank == 0 || (m.reduced_rank == 1 && m.reduced_strides[0] == 1);
    // A row of one span is reduced by one thread.
    const bool one = alone || m.length <= SPAN;
    const u64 number = worker_number();
    u32 turn = 0;
    for (u64 o = alone ? number : blockIdx.x; o < m.outputs; o += alone ? (u64)gridDim.x * blockDim.x : gridDim.x) {
        if (one && !alone && threadIdx.x != 0) continue;
        const T* const row = in + offsets(o, m.outputs, m.kept_rank, m.kept_dims, m.kept_strides, m.kept_strides).a;
        const u64 first = one ? 0 : (u64)threadIdx.x * SPAN, stride = one ? SPAN : (u64)blockDim.x * SPAN;
        const T result = op(Row{row, m, tight, !one, first, stride, turn});
        if (alone || threadIdx.x == 0) out[o] = result;
    }
}

#define STAT(op)                                                                                             \
    KERNEL(PASTE4(stat_, op, _, DTYPE), const T* in, T* out, StatMap map, u32 alone) {                     \
        statistic(in, out, map, alone != 0, op##_op{});                                                      \
    }
STAT(var)
STAT(std)
STAT(norm)
STAT(log_sum_exp)

} // namespace hipstack
