//! Reductions over any set of axes: sum, prod, min, max, argmin, argmax; by rows and by columns.
//
// reduce_<op>: one block for one output, the block's threads share its elements. Launch: one-dimensional, block a multiple
// of 64 and at most 256; blocks stride over the outputs, so any grid is right.
// reduce_cols_<op>: one thread for one output. Launch: one-dimensional, any block up to 256, any grid.
// Both give any result that the other may give; which is quicker: src/launch.rs.
//
// Outputs are tight. argmin and argmax write the row-major position within the reduced axes as u32: length < 2^32.
// With length 0 sums are 0 and products 1; the others need an element.
//
// Sums and products of floats of up to 32 bits are kept in f32, of f64 in f64, and rounded once to the dtype. They are
// added up in spans, spans in a cascade of three levels, threads in a tree: no long chain of additions anywhere.
#include "portable.hpp"

namespace hipstack {

// Output o begins at the offset of o in the kept dims; its element i lies at the offset of i in the reduced dims.
struct ReduceMap {
    u64 outputs, length;
    u32 kept_rank, reduced_rank;
    u64 kept_dims[MAX_RANK], kept_strides[MAX_RANK], reduced_dims[MAX_RANK], reduced_strides[MAX_RANK];
};
SIZE(ReduceMap, 280) OFFSET(ReduceMap, kept_rank, 16) OFFSET(ReduceMap, kept_dims, 24)
OFFSET(ReduceMap, kept_strides, 88) OFFSET(ReduceMap, reduced_dims, 152) OFFSET(ReduceMap, reduced_strides, 216)

// Elements side by side that a thread takes before it goes on to the next span: what one 16-byte access brings; on the host
// enough for a loop that pays.
static constexpr u32 SPAN = ON_HOST ? 2048 : 16 / sizeof(T);
static constexpr u32 LANES = SPAN < 16 ? SPAN : 16;
// A thread's elements of a column between two steps of the cascade.
static constexpr u32 COLUMN_SPAN = 64;
// Neighbouring outputs that a thread of reduce_cols computes together where the columns lie side by side.
static constexpr u32 COLUMNS = ON_HOST ? 16 : 1;

// ---- operations -------------------------------------------------------------------------------------------------------
// Accumulators: floats as they compute, integers in the unsigned type that wraps.
template <class U, bool FLOAT> struct AccumulatorOf { typedef typename Dtype<U>::Compute Type; };
template <class U> struct AccumulatorOf<U, false> { typedef typename Dtype<U>::Wrap Type; };
typedef AccumulatorOf<T, Dtype<T>::FLOAT>::Type Accumulator;

// An operation: Sum (what accumulates), Out, none() that changes nothing, of(element, position), join, shuffle, result.
struct sum_op {
    typedef Accumulator Sum;
    typedef T Out;
    static METHOD Sum none() { return Sum(0); }
    static METHOD Sum of(T v, u64) { return (Sum)widen(v); }
    static METHOD Sum join(Sum a, Sum b) { return a + b; }
    static METHOD Sum shuffle(Sum v, u32 mask) { return shuffle_xor(v, mask); }
    static METHOD T result(Sum v) { return narrow<T>((C)v); }
};
struct prod_op : sum_op {
    static METHOD Sum none() { return Sum(1); }
    static METHOD Sum join(Sum a, Sum b) { return a * b; }
};
typedef Dtype<T>::Rank Rank;
template <bool LEAST> struct extreme_op {
    typedef Rank Sum;
    typedef T Out;
    static METHOD Sum none() { return least<Rank>(); }
    static METHOD Sum of(T v, u64) { return rank_of<LEAST>(v); }
    static METHOD Sum join(Sum a, Sum b) { return a > b ? a : b; }
    static METHOD Sum shuffle(Sum v, u32 mask) { return shuffle_xor(v, mask); }
    static METHOD T result(Sum v) { return value_of<LEAST, T>(v); }
};
struct Place {
    Rank rank;
    u32 index;
};
template <bool LEAST> struct place_op {
    typedef Place Sum;
    typedef u32 Out;
    static METHOD Sum none() { return Place{least<Rank>(), ~0u}; }
    static METHOD Sum of(T v, u64 i) { return Place{rank_of<LEAST>(v), (u32)i}; }
    // The greater rank; of equals the first place.
    static METHOD Sum join(Sum a, Sum b) {
        const bool second = b.rank > a.rank || (b.rank == a.rank && b.index < a.index);
        return Place{second ? b.rank : a.rank, second ? b.index : a.index};
    }
    static METHOD Sum shuffle(Sum v, u32 mask) { return Place{shuffle_xor(v.rank, mask), shuffle_xor(v.index, mask)}; }
    static METHOD u32 result(Sum v) { return v.index; }
};
typedef extreme_op<true> min_op;
typedef extreme_op<false> max_op;
typedef place_op<true> argmin_op;
typedef place_op<false> argmax_op;

// ---- accumulation in one thread ---------------------------------------------------------------------------------------
// Adds up a long series: 64 terms on the first level, 64 of those on the second, the rest on the third.
template <class Op> struct Cascade {
    typedef typename Op::Sum Sum;
    Sum level0 = Op::none(), level1 = Op::none(), level2 = Op::none();
    u32 terms = 0;
    METHOD void add(Sum term) {
        level0 = Op::join(level0, term);
        if ((++terms & 63u) != 0) return;
        level1 = Op::join(level1, level0);
        level0 = Op::none();
        if ((terms & 4095u) != 0) return;
        level2 = Op::join(level2, level1);
        level1 = Op::none();
    }
    METHOD Sum total() const { return Op::join(level2, Op::join(level1, level0)); }
};

// The lower half of the lanes joins the upper half, and so on. Without a loop over the halves: nvcc does not unroll one, and keeps
// lanes whose numbers are no constants in memory.
template <class Op, u32 HALF = LANES / 2> DEVICE typename Op::Sum lanes_total(typename Op::Sum (&lane)[LANES]) {
    if constexpr (HALF > 0) {
        UNROLL
        for (u32 l = 0; l < HALF; l++) lane[l] = Op::join(lane[l], lane[l + HALF]);
        return lanes_total<Op, HALF / 2>(lane);
    } else {
        return lane[0];
    }
}

// n elements that lie side by side, the first of them at position `first` of the row.
template <class Op> SHARED_CODE typename Op::Sum tight_span(const T* p, u64 first, u32 n) {
    typename Op::Sum lane[LANES];
    UNROLL
    for (u32 l = 0; l < LANES; l++) lane[l] = Op::none();
    u32 i = 0;
    for (; i + LANES <= n; i += LANES) {
        UNROLL
        for (u32 l = 0; l < LANES; l++) lane[l] = Op::join(lane[l], Op::of(p[i + l], first + i + l));
    }
    typename Op::Sum rest = Op::none();
    for (; i < n; i++) rest = Op::join(rest, Op::of(p[i], first + i));
    return Op::join(lanes_total<Op>(lane), rest);
}
#if !ON_HOST
// A whole span by one 16-byte access.
template <class Op> DEVICE typename Op::Sum pack_span(const T* p, u64 first) {
    const Pack<T, SPAN> pack = load_pack<SPAN>(p);
    typename Op::Sum lane[LANES];
    UNROLL
    for (u32 l = 0; l < LANES; l++) lane[l] = Op::of(pack.at[l], first + l);
    return lanes_total<Op>(lane);
}
#endif
DEVICE u64 reduced_offset(const ReduceMap& m, u64 i) {
    if (m.reduced_rank == 1) return i * m.reduced_strides[0];
    return offsets(i, m.length, m.reduced_rank, m.reduced_dims, m.reduced_strides, m.reduced_strides).a;
}
template <class Op> DEVICE typename Op::Sum strided_span(const T* row, const ReduceMap& m, u64 first, u32 n) {
    typename Op::Sum sum = Op::none();
    for (u32 i = 0; i < n; i++) sum = Op::join(sum, Op::of(row[reduced_offset(m, first + i)], first + i));
    return sum;
}
DEVICE bool rows_are_tight(const ReduceMap& m) {
    return m.reduced_rank == 0 || (m.reduced_rank == 1 && m.reduced_strides[0] == 1);
}
DEVICE u64 kept_offset(const ReduceMap& m, u64 o) {
    return offsets(o, m.outputs, m.kept_rank, m.kept_dims, m.kept_strides, m.kept_strides).a;
}

// ---- one block for one output -----------------------------------------------------------------------------------------
template <class Op> DEVICE void reduce_rows(const T* in, typename Op::Out* out, const ReduceMap& m) {
    const bool tight = rows_are_tight(m);
    u32 turn = 0;
    for (u64 o = blockIdx.x; o < m.outputs; o += gridDim.x, turn++) {
        const T* const row = in + kept_offset(m, o);
        Cascade<Op> sum;
        for (u64 i = (u64)threadIdx.x * SPAN; i < m.length; i += (u64)blockDim.x * SPAN) {
            const u32 n = m.length - i < SPAN ? (u32)(m.length - i) : SPAN;
#if !ON_HOST
            if (tight && n == SPAN && is_aligned<T, SPAN>(row)) sum.add(pack_span<Op>(row + i, i));
            else
#endif
            if (tight) sum.add(tight_span<Op>(row + i, i, n));
            else sum.add(strided_span<Op>(row, m, i, n));
        }
        typename Op::Sum total = sum.total();
        // A row of one span is the first thread's alone.
        if (m.length > SPAN) total = block_join<Op>(total, turn);
        if (threadIdx.x == 0) out[o] = Op::result(total);
    }
}

// ---- one thread for one output ----------------------------------------------------------------------------------------
template <class Op> DEVICE typename Op::Sum column(const T* row, const ReduceMap& m, bool tight) {
    Cascade<Op> sum;
    for (u64 i = 0; i < m.length; i += COLUMN_SPAN) {
        const u32 n = m.length - i < COLUMN_SPAN ? (u32)(m.length - i) : COLUMN_SPAN;
        sum.add(tight ? tight_span<Op>(row + i, i, n) : strided_span<Op>(row, m, i, n));
    }
    return sum.total();
}
// COLUMNS columns side by side.
template <class Op> SHARED_CODE void columns(const T* first, typename Op::Out* out, const ReduceMap& m) {
    Cascade<Op> sum[COLUMNS];
    for (u64 i = 0; i < m.length; i += COLUMN_SPAN) {
        const u64 end = m.length - i < COLUMN_SPAN ? m.length : i + COLUMN_SPAN;
        typename Op::Sum part[COLUMNS];
        for (u32 c = 0; c < COLUMNS; c++) part[c] = Op::none();
        for (u64 r = i; r < end; r++) {
            const T* const p = first + reduced_offset(m, r);
            for (u32 c = 0; c < COLUMNS; c++) part[c] = Op::join(part[c], Op::of(p[c], r));
        }
        for (u32 c = 0; c < COLUMNS; c++) sum[c].add(part[c]);
    }
    for (u32 c = 0; c < COLUMNS; c++) out[c] = Op::result(sum[c].total());
}
template <class Op> DEVICE void reduce_columns(const T* in, typename Op::Out* out, const ReduceMap& m) {
    const bool tight = rows_are_tight(m);
    const bool side_by_side = COLUMNS > 1 && m.kept_rank == 1 && m.kept_strides[0] == 1;
    // On the host neighbouring threads share an OS thread: outputs are dealt out to blocks first.
    const u64 number = ON_HOST ? (u64)threadIdx.x * gridDim.x + blockIdx.x : thread_number();
    for (u64 o = number * COLUMNS; o < m.outputs; o += thread_count() * COLUMNS) {
        if (side_by_side && m.outputs - o >= COLUMNS) {
            columns<Op>(in + o, out + o, m);
            continue;
        }
        for (u64 c = o; c < m.outputs && c < o + COLUMNS; c++)
            out[c] = Op::result(column<Op>(in + kept_offset(m, c), m, tight));
    }
}

// ---- kernels ----------------------------------------------------------------------------------------------------------
#define REDUCE(op)                                                                                           \
    KERNEL(PASTE4(reduce_, op, _, DTYPE), const T* in, op##_op::Out* out, ReduceMap map) {                   \
        reduce_rows<op##_op>(in, out, map);                                                                  \
    }                                                                                                        \
    KERNEL(PASTE4(reduce_cols_, op, _, DTYPE), const T* in, op##_op::Out* out, ReduceMap map) {              \
        reduce_columns<op##_op>(in, out, map);                                                               \
    }
REDUCE(sum)
REDUCE(prod)
REDUCE(min)
REDUCE(max)
REDUCE(argmin)
REDUCE(argmax)

} // namespace hipstack
