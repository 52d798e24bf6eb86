//! Reductions over any set of axes: sum, prod, min, max, argmin, argmax; by rows or by columns, in one or several parts.
//
// reduce_<op>: a block, or a group of up to 32 threads, reduces an output. Launch: one-dimensional, block a multiple of 64 and at most 256;
// blocks stride over the outputs, so any grid is right.
// reduce_cols_<op>: a thread reduces COLUMNS neighbouring outputs (eight for extremes of 16-bit floats), or one if their elements are not
// aligned. Launch: one-dimensional, any block up to 256, any grid.
// Both can compute any reduction; src/launch.rs chooses the faster one.
// If there are few outputs, they are split into parts. These kernels then write the unrounded accumulator of each part, and
// reduce_join_<op> combines the parts of each output, in an order that depends only on their number. Launch: one-dimensional, block a power
// of two up to 256, any grid.
//
// Outputs are tight. argmin and argmax write the row-major position within the reduced axes as u32: length < 2^32. With length 0 sums are 0
// and products 1; the other operations need an element.
//
// Sums and products are kept in f32 (f64 for f64) and rounded once to the dtype. The summation is in spans, spans in a cascade of three
// levels, threads in a tree, so there is no long chain of additions.

#include "portable.hpp"
#include "block_join.hpp"
#include "reductions.hpp"
#include "half_ranks.hpp"

namespace hipstack {

// Output o begins at the offset of o in the kept dims. Its element i lies at the offset of i in the reduced dims.
struct ReduceMap {
    u64 outputs, length;
    u64 segment; // elements of a part; the last parts may have fewer or none
    u32 parts; // of each output; 1: writes outputs; else writes the accumulator of part p of output o at p * outputs + o
    u32 group; // reduce_<op>: threads that share an output, a power of two up to 32; 0: the block
    u32 kept_rank, reduced_rank;
    u64 kept_dims[MAX_RANK], kept_strides[MAX_RANK], reduced_dims[MAX_RANK], reduced_strides[MAX_RANK];
};
SIZE(ReduceMap, 296) OFFSET(ReduceMap, segment, 16) OFFSET(ReduceMap, parts, 24) OFFSET(ReduceMap, kept_rank, 32)
OFFSET(ReduceMap, kept_dims, 40) OFFSET(ReduceMap, kept_strides, 104) OFFSET(ReduceMap, reduced_dims, 168)
OFFSET(ReduceMap, reduced_strides, 232)
// Joining of parts. Neighbouring threads take `width` neighbouring outputs, a power of two up to the block size.
struct JoinMap {
    u64 outputs;
    u32 parts, width;
};
SIZE(JoinMap, 16) OFFSET(JoinMap, parts, 8)

// Contiguous elements of a thread before it moves on to its next span: a 16-byte access; on the host enough for an efficient loop.
static constexpr u32 SPAN = ON_HOST ? 2048 : ACCESS / sizeof(T);
static constexpr u32 LANES = SPAN < 16 ? SPAN : 16;
// Spans in flight in a thread.
static constexpr u32 SPANS = sizeof(T) == 1 ? 2 : 4;
// Rows of a column between two steps of the cascade, and rows in flight: as many as registers allow.
static constexpr u32 COLUMN_SPAN = 64, AT_ONCE = ON_HOST ? 1 : sizeof(T) < 4 ? 8 : sizeof(T) == 4 ? 3 : 4;
// Parts in flight in a thread.
static constexpr u32 PARTS_AT_ONCE = ON_HOST ? 1 : 16;
// Neighbouring outputs of a thread of reduce_cols where columns are contiguous.
static constexpr u32 COLUMNS = ON_HOST ? 16 : sizeof(T) < 4 ? 4 : ACCESS / sizeof(T);

// ---- accumulation in one thread --------------------------------------------------------------------------------------
// Sums up W long series: 64 terms on the first level, 64 of those on the second, the rest on the third.
template <class Op, u32 W> struct Cascade {
    typedef typename Op::Sum Sum;
    Sum level0[W], level1[W], level2[W];
    u32 terms = 0;
    METHOD Cascade() {
        UNROLL
        for (u32 w = 0; w < W; w++) level0[w] = level1[w] = level2[w] = Op::identity();
    }
    // Moves a level's sums to the next level.
    static METHOD void carry(Sum (&from)[W], Sum (&to)[W]) {
        UNROLL
        for (u32 w = 0; w < W; w++) {
            to[w] = Op::join(to[w], from[w]);
            from[w] = Op::identity();
        }
    }
    METHOD void add(const Sum (&term)[W]) {
        UNROLL
        for (u32 w = 0; w < W; w++) level0[w] = Op::join(level0[w], term[w]);
        if constexpr (Op::SUMS) {
            if ((++terms & 63u) != 0) return;
            carry(level0, level1);
            if ((terms & 4095u) == 0) carry(level1, level2);
        }
    }
    METHOD void add(Sum term) {
        const Sum one[1] = {term};
        add(one);
    }
    METHOD Sum total(u32 w) const {
        if constexpr (Op::SUMS) return Op::join(level2[w], Op::join(level1[w], level0[w]));
        else return level0[w];
    }
};

// Tree reduction over the lanes. It is recursive, because nvcc does not unroll a loop over the halves, and then keeps lanes with
// non-constant indices in local memory.
template <class Op, u32 HALF = LANES / 2> DEVICE typename Op::Sum lanes_total(typename Op::Sum (&lane)[LANES]) {
    if constexpr (HALF > 0) {
        UNROLL
        for (u32 l = 0; l < HALF; l++) lane[l] = Op::join(lane[l], lane[l + HALF]);
        return lanes_total<Op, HALF / 2>(lane);
    } else {
        return lane[0];
    }
}

// n contiguous elements; the first is at position `first` of the row.
template <class Op> SHARED_CODE typename Op::Sum tight_span(const T* p, u64 first, u32 n) {
    typename Op::Sum lane[LANES];
    UNROLL
    for (u32 l = 0; l < LANES; l++) lane[l] = Op::identity();
    u32 i = 0;
    for (; i + LANES <= n; i += LANES) {
        UNROLL
        for (u32 l = 0; l < LANES; l++) lane[l] = Op::join(lane[l], Op::of(p[i + l], first + i + l));
    }
    typename Op::Sum rest = Op::identity();
    ROLLED
    for (; i < n; i++) rest = Op::join(rest, Op::of(p[i], first + i));
    return Op::join(lanes_total<Op>(lane), rest);
}
// The accumulators of a pack's elements. The first element is at position `first`.
template <class Op> DEVICE void terms(typename Op::Sum (&term)[LANES], const Pack<T, SPAN>& pack, u64 first) {
    if constexpr (HALVES && !Op::ORDERS) {
        u32 words[SPAN / 2];
        memcpy(words, &pack, sizeof(words));
        UNROLL
        for (u32 w = 0; w < SPAN / 2; w++) widen_halves<T>(words[w], term[2 * w], term[2 * w + 1]);
    } else {
        UNROLL
        for (u32 l = 0; l < LANES; l++) term[l] = Op::of(pack.at[l], first + l);
    }
}
// 16-bit integers are converted and joined one by one, because ptxas spills some terms if all terms of a pack are converted first.
static constexpr bool ONE_BY_ONE = !Dtype<T>::FLOAT && sizeof(T) == 2;
// U whole spans, `step` apart, with one 16-byte access each. All are loaded before the first is used.
template <class Op, u32 U> DEVICE typename Op::Sum pack_spans(const T* p, u64 first, u64 step) {
    Pack<T, SPAN> pack[U];
    UNROLL
    for (u32 u = 0; u < U; u++) pack[u] = load_pack<SPAN>(p + u * step);
    if constexpr (HALF && Op::ORDERS) {
        return half_spans<Op>(pack, p, first, step);
    } else {
        typename Op::Sum lane[LANES];
        if constexpr (ONE_BY_ONE) {
            UNROLL for (u32 l = 0; l < LANES; l++) lane[l] = Op::of(pack[0].at[l], first + l);
            UNROLL for (u32 u = 1; u < U; u++) {
                UNROLL
                for (u32 l = 0; l < LANES; l++) lane[l] = Op::join(lane[l], Op::of(pack[u].at[l], first + u * step + l));
            }
        } else {
            UNROLL
            for (u32 u = 0; u < U; u++) {
                typename Op::Sum term[LANES];
                terms<Op>(term, pack[u], first + u * step);
                UNROLL
                for (u32 l = 0; l < LANES; l++) lane[l] = u == 0 ? term[l] : Op::join(lane[l], term[l]);
            }
        }
        return lanes_total<Op>(lane);
    }
}
DEVICE u64 reduced_offset(const ReduceMap& m, u64 i) {
    if (m.reduced_rank == 1) return i * m.reduced_strides[0];
    return offsets(i, m.length, m.reduced_rank, m.reduced_dims, m.reduced_strides, m.reduced_strides).a;
}
template <class Op> DEVICE typename Op::Sum strided_span(const T* row, const ReduceMap& m, u64 first, u32 n) {
    typename Op::Sum sum = Op::identity();
    ROLLED
    for (u32 i = 0; i < n; i++) sum = Op::join(sum, Op::of(row[reduced_offset(m, first + i)], first + i));
    return sum;
}
DEVICE bool rows_are_tight(const ReduceMap& m) {
    return m.reduced_rank == 0 || (m.reduced_rank == 1 && m.reduced_strides[0] == 1);
}
DEVICE u64 kept_offset(const ReduceMap& m, u64 o) {
    return offsets(o, m.outputs, m.kept_rank, m.kept_dims, m.kept_strides, m.kept_strides).a;
}

// A part of an output: its elements begin to end.
struct Item {
    u64 output, begin, end;
    u32 part;
};
DEVICE Item item_of(const ReduceMap& m, u64 output, u32 part) {
    const u64 begin = part * m.segment, end = begin + m.segment;
    return Item{output, begin < m.length ? begin : m.length, end < m.length ? end : m.length, part};
}
// Item i; an output's parts have consecutive numbers.
DEVICE Item item_of(const ReduceMap& m, u64 i) {
    const u64 output = m.parts == 1 ? i : i / m.parts;
    return item_of(m, output, (u32)(i - output * m.parts));
}
template <class Op> DEVICE void write(typename Op::Out* out, const ReduceMap& m, Item item, typename Op::Sum total) {
    if (m.parts == 1) out[item.output] = Op::result(total);
    else reinterpret_cast<typename Op::Sum*>(out)[item.part * m.outputs + item.output] = total;
}

// The share of one of `threads` threads of an item. Spans are distributed round-robin.
template <class Op>
DEVICE typename Op::Sum share(const T* row, const ReduceMap& m, bool tight, Item item, u32 thread, u32 threads) {
    Cascade<Op, 1> sum;
    const u64 step = (u64)threads * SPAN;
    u64 i = item.begin + (u64)thread * SPAN;
    if constexpr (!ON_HOST) {
        if (tight && is_aligned<T, SPAN>(row + item.begin)) {
            ROLLED
            for (; i + (SPANS - 1) * step + SPAN <= item.end; i += SPANS * step) sum.add(pack_spans<Op, SPANS>(row + i, i, step));
            ROLLED
            for (; i + SPAN <= item.end; i += step) sum.add(pack_spans<Op, 1>(row + i, i, step));
        }
    }
    for (; i < item.end; i += step) {
        const u32 n = item.end - i < SPAN ? (u32)(item.end - i) : SPAN;
        sum.add(tight ? tight_span<Op>(row + i, i, n) : strided_span<Op>(row, m, i, n));
    }
    return sum.total(0);
}

// ---- a block or a group of threads for one output ---------------------------------------------------------------------
template <class Op> DEVICE void reduce_rows(const T* in, typename Op::Out* out, const ReduceMap& m) {
    const bool tight = rows_are_tight(m);
    const u64 items = m.outputs * m.parts;
    if constexpr (ON_HOST) {
        // An item of one span is reduced by one thread.
        if (m.segment <= SPAN) {
            for (u64 i = worker_number(); i < items; i += thread_count()) {
                const Item item = item_of(m, i);
                write<Op>(out, m, item, share<Op>(in + kept_offset(m, item.output), m, tight, item, 0, 1));
            }
            return;
        }
    }
    const u32 group = ON_HOST ? 0 : m.group, each = group != 0 ? blockDim.x / group : 1;
    const u32 threads = group != 0 ? group : blockDim.x, number = group != 0 ? threadIdx.x / group : 0;
    const u32 thread = threadIdx.x - number * threads;
    u32 turn = 0;
    // All threads of a block iterate equally often, because all of them must reach barriers and shuffles.
    for (u64 first = (u64)blockIdx.x * each; first < items; first += (u64)gridDim.x * each, turn++) {
        const u64 i = first + number;
        typename Op::Sum total = Op::identity();
        if (i < items) {
            const Item item = item_of(m, i);
            total = share<Op>(in + kept_offset(m, item.output), m, tight, item, thread, threads);
        }
        if (group == 0) {
            if (m.segment > SPAN) total = block_join<Op>(total, turn);
        } else {
            for (u32 mask = group / 2; mask > 0; mask /= 2) total = Op::join(total, Op::shuffle(total, mask));
        }
        // The item is recomputed to save registers.
        if (thread == 0 && i < items) write<Op>(out, m, item_of(m, i), total);
    }
}

// ---- one thread for neighbouring outputs -----------------------------------------------------------------------------
// W contiguous columns. On the host there may be fewer: n.
template <class Op, u32 W>
SHARED_CODE void columns(const T* first, u32 n, typename Op::Out* out, const ReduceMap& m, Item item) {
    Cascade<Op, W> sum;
    for (u64 i = item.begin; i < item.end; i += COLUMN_SPAN) {
        const u64 end = item.end - i < COLUMN_SPAN ? item.end : i + COLUMN_SPAN;
        typename Op::Sum part[W];
        UNROLL
        for (u32 c = 0; c < W; c++) part[c] = Op::identity();
        u64 r = i;
        if constexpr (ON_HOST) {
            for (; r < end; r++) {
                const T* const p = first + reduced_offset(m, r);
                if (n == W) {
                    for (u32 c = 0; c < W; c++) part[c] = Op::join(part[c], Op::of(p[c], r));
                } else {
                    for (u32 c = 0; c < n; c++) part[c] = Op::join(part[c], Op::of(p[c], r));
                }
            }
        } else {
            if (m.reduced_rank == 1) {
                const u64 step = m.reduced_strides[0];
                ROLLED
                for (const T* p = first + r * step; r + AT_ONCE <= end; r += AT_ONCE, p += AT_ONCE * step) {
                    Pack<T, W> x[AT_ONCE];
                    UNROLL
                    for (u32 u = 0; u < AT_ONCE; u++) x[u] = load_pack<W>(p + u * step);
                    UNROLL
                    for (u32 u = 0; u < AT_ONCE; u++) {
                        UNROLL
                        for (u32 c = 0; c < W; c++) part[c] = Op::join(part[c], Op::of(x[u].at[c], r + u));
                    }
                }
            }
            ROLLED
            for (; r < end; r++) {
                const Pack<T, W> x = load_pack<W>(first + reduced_offset(m, r));
                UNROLL
                for (u32 c = 0; c < W; c++) part[c] = Op::join(part[c], Op::of(x.at[c], r));
            }
        }
        sum.add(part);
    }
    UNROLL
    for (u32 c = 0; c < W; c++) {
        if (c < n) write<Op>(out, m, Item{item.output + c, 0, 0, item.part}, sum.total(c));
    }
}
template <class Op> DEVICE void half_columns(const T* first, typename Op::Out* out, const ReduceMap& m, Item item) {
    typename Op::Sum sum[HALF_COLUMNS];
    const u64 step = m.reduced_strides[0];
    if (item.begin == item.end) {
        UNROLL
        for (u32 c = 0; c < HALF_COLUMNS; c++) sum[c] = Op::identity();
    } else {
        if constexpr (HALVES && !Op::INDEXED) half_rows_by_words<Op>(sum, first, item.begin, item.end, step);
        else half_rows<Op>(sum, first, item.begin, item.end, step);
    }
    if (m.parts == 1) {
        UNROLL
        for (u32 c = 0; c < HALF_COLUMNS; c++) out[item.output + c] = Op::result(sum[c]);
        return;
    }
    // All threads finish at about the same time and wait for these stores, so they are 16 bytes wide. Outputs come in eights.
    constexpr u32 EACH = ACCESS / sizeof(typename Op::Sum);
    typename Op::Sum* const parts = reinterpret_cast<typename Op::Sum*>(out) + item.part * m.outputs + item.output;
    UNROLL
    for (u32 c = 0; c < HALF_COLUMNS; c += EACH) {
        Pack<typename Op::Sum, EACH> pack;
        UNROLL
        for (u32 k = 0; k < EACH; k++) pack.at[k] = sum[c + k];
        write_pack<EACH>(parts + c, pack);
    }
}
// Number of contiguous outputs, at least 1.
DEVICE u64 line_of(const ReduceMap& m) {
    return m.kept_rank > 0 && m.kept_strides[m.kept_rank - 1] == 1 ? m.kept_dims[m.kept_rank - 1] : 1;
}
template <class Op, u32 W> DEVICE void reduce_columns(const T* in, typename Op::Out* out, const ReduceMap& m) {
    const u64 line = line_of(m), each = (line + W - 1) / W, packs = m.outputs / line * each;
    for (u64 i = worker_number(); i < packs * m.parts; i += thread_count()) {
        const u64 part = m.parts == 1 ? 0 : i / packs, pack = i - part * packs;
        const u64 row = each == 1 ? pack : pack / each, x = (pack - row * each) * W, o = row * line + x;
        const T* const first = in + kept_offset(m, o);
        const Item item = item_of(m, o, (u32)part);
        if constexpr (!ON_HOST && HALF && Op::ORDERS && W == HALF_COLUMNS) half_columns<Op>(first, out, m, item);
        else columns<Op, W>(first, line - x < W ? (u32)(line - x) : W, out, m, item);
    }
}
// Whether W neighbours are always aligned for one access.
template <u32 W> DEVICE bool columns_are_packed(const T* in, const ReduceMap& m) {
    bool packed = line_of(m) % W == 0 && is_aligned<T, W>(in);
    for (u32 d = 0; d + 1 < m.kept_rank; d++) packed = packed && m.kept_strides[d] % W == 0;
    for (u32 d = 0; d < m.reduced_rank; d++) packed = packed && m.reduced_strides[d] % W == 0;
    return packed;
}
template <class Op> DEVICE void reduce_columns(const T* in, typename Op::Out* out, const ReduceMap& m) {
    if constexpr (!ON_HOST) {
        if constexpr (HALF && Op::ORDERS) {
            const bool whole = m.reduced_rank == 1 && m.segment <= MAX_ROWS && columns_are_packed<HALF_COLUMNS>(in, m);
            if (whole) return reduce_columns<Op, HALF_COLUMNS>(in, out, m);
        }
        if (!columns_are_packed<COLUMNS>(in, m)) return reduce_columns<Op, 1>(in, out, m);
    }
    reduce_columns<Op, COLUMNS>(in, out, m);
}

// ---- the parts of outputs together ------------------------------------------------------------------------------------
template <class Op> DEVICE void join_parts(const typename Op::Sum* in, typename Op::Out* out, const JoinMap& m) {
    constexpr u32 JOINED = PARTS_AT_ONCE;
    typename Op::Sum* const slot = block_slots<typename Op::Sum>();
    const u32 thread = threadIdx.x, lane = thread % m.width, row = thread / m.width, rows = blockDim.x / m.width;
    for (u64 first = (u64)blockIdx.x * m.width; first < m.outputs; first += (u64)gridDim.x * m.width) {
        const u64 o = first + lane;
        Cascade<Op, 1> sum;
        if (o < m.outputs) {
            for (u32 first_part = row; first_part < m.parts; first_part += JOINED * rows) {
                typename Op::Sum part[JOINED];
                UNROLL
                for (u32 k = 0; k < JOINED; k++) {
                    const u32 p = first_part + k * rows;
                    part[k] = p < m.parts ? in[p * m.outputs + o] : Op::identity();
                }
                UNROLL
                for (u32 k = 0; k < JOINED; k++) {
                    if (first_part + k * rows < m.parts) sum.add(part[k]);
                }
            }
        }
        slot[thread] = sum.total(0);
        __syncthreads();
        if (m.width == 1) {
            // One output: reduce the block's slots in the first wave.
            typename Op::Sum all = Op::identity();
            if (thread < WAVE_SIZE) {
                const u32 in_group = thread & 31u;
                all = slot[in_group];
                for (u32 other = in_group + 32u; other < blockDim.x; other += 32u) all = Op::join(all, slot[other]);
                for (u32 mask = 16u; mask > 0u; mask >>= 1) all = Op::join(all, Op::shuffle(all, mask));
            }
            if (thread == 0) out[o] = Op::result(all);
            __syncthreads();
            continue;
        }
        for (u32 half = rows / 2; half > 0; half /= 2) {
            if (row < half) slot[thread] = Op::join(slot[thread], slot[thread + half * m.width]);
            __syncthreads();
        }
        if (row == 0 && o < m.outputs) out[o] = Op::result(slot[thread]);
    }
}

// ---- kernels ----------------------------------------------------------------------------------------------------------
#define REDUCE(op)                                                                                           \
    KERNEL(PASTE4(reduce_, op, _, DTYPE), const T* in, op##_op::Out* out, ReduceMap map) {                   \
        reduce_rows<op##_op>(in, out, map);                                                                  \
    }                                                                                                        \
    KERNEL(PASTE4(reduce_cols_, op, _, DTYPE), const T* in, op##_op::Out* out, ReduceMap map) {              \
        reduce_columns<op##_op>(in, out, map);                                                               \
    }                                                                                                        \
    KERNEL(PASTE4(reduce_join_, op, _, DTYPE), const op##_op::Sum* in, op##_op::Out* out, JoinMap map) {     \
        join_parts<op##_op>(in, out, map);                                                                   \
    }
REDUCE(sum)
REDUCE(prod)
REDUCE(min)
REDUCE(max)
REDUCE(argmin)
REDUCE(argmax)

} // namespace hipstack
