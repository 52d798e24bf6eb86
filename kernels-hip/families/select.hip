//! Selection by a mask or by index, and values generated from the index: where, flip, tril, triu, arange, linspace.
//
// Launch: one-dimensional, block 256. Every kernel has a grid-stride loop, so any grid is right; src/launch.rs chooses one. No shared
// memory, no barriers.
//
// Inputs and out do not overlap. Pointers include the offset of the view. dims[0] is the outermost dimension; strides count elements. The
// output is tight. Elements of inputs are copied bit by bit.
#include "portable.hpp"

namespace hipstack {

// flags: for each input one bit if it is tight and one if it is a scalar. Dims and strides are not read if every input is one of these.
struct WhereMap {
    u64 count;
    u32 rank, flags;
    u64 dims[MAX_RANK], mask[MAX_RANK], a[MAX_RANK], b[MAX_RANK];
};
// Element i of the output is that at start + Σ index · stride; strides of flipped dims are negative and wrap.
struct FlipMap {
    u64 count, start;
    u32 rank, reserved;
    u64 dims[MAX_RANK], strides[MAX_RANK];
};
// Element i of the output has number first + i in consecutive matrices of rows × columns. contiguous != 0: the input is tight, and dims and
// strides are not read.
struct TriangleMap {
    u64 count, first, rows, columns;
    i64 diagonal;
    u32 rank, contiguous;
    u64 dims[MAX_RANK], strides[MAX_RANK];
};
SIZE(WhereMap, 272) OFFSET(WhereMap, dims, 16) OFFSET(WhereMap, mask, 80) OFFSET(WhereMap, a, 144) OFFSET(WhereMap, b, 208)
SIZE(FlipMap, 152) OFFSET(FlipMap, dims, 24) OFFSET(FlipMap, strides, 88)
SIZE(TriangleMap, 176) OFFSET(TriangleMap, rank, 40) OFFSET(TriangleMap, dims, 48) OFFSET(TriangleMap, strides, 112)
static constexpr u32 MASK_TIGHT = 1, A_TIGHT = 2, B_TIGHT = 4, MASK_SCALAR = 8, A_SCALAR = 16, B_SCALAR = 32;

// On the host a thread takes STEP contiguous elements, in runs along the innermost dimension, so that the loops vectorise.
static constexpr u64 STEP = 128;

// Calls body(i, n) for runs of at most STEP elements that stay inside the innermost dimension, whose length is `inner`.
template <class Body> DEVICE void for_runs(u64 count, u64 inner, Body body) {
    for (u64 start = thread_number() * STEP; start < count; start += thread_count() * STEP) {
        const u64 end = count - start < STEP ? count : start + STEP;
        for (u64 i = start; i < end;) {
            const u64 rest = inner - i % inner, n = rest < end - i ? rest : end - i;
            body(i, n);
            i += n;
        }
    }
}

// ---- where -----------------------------------------------------------------------------------------------------------
// The offsets of element i in the mask and in both inputs.
DEVICE ThreeOffsets offsets_of(u64 i, const WhereMap& m) {
    return m.count >> 32 == 0 ? three_offsets_as<u32>((u32)i, m.rank, m.dims, m.mask, m.a, m.b)
                              : three_offsets_as<u64>(i, m.rank, m.dims, m.mask, m.a, m.b);
}

// n elements on the host.
template <class M>
SHARED_CODE void choose(const M* mask, u64 sm, const T* a, u64 sa, const T* b, u64 sb, T* out, u64 n) {
    if (sm == 1 && sa == 1 && sb == 1) {
        INDEPENDENT
        for (u64 j = 0; j < n; j++) out[j] = mask[j] != 0 ? a[j] : b[j];
    } else if (sm == 1 && sa == 0 && sb == 1) {
        const T x = *a;
        INDEPENDENT
        for (u64 j = 0; j < n; j++) out[j] = mask[j] != 0 ? x : b[j];
    } else if (sm == 1 && sa == 1 && sb == 0) {
        const T y = *b;
        INDEPENDENT
        for (u64 j = 0; j < n; j++) out[j] = mask[j] != 0 ? a[j] : y;
    } else {
        for (u64 j = 0; j < n; j++) out[j] = mask[j * sm] != 0 ? a[j * sa] : b[j * sb];
    }
}

template <class M> DEVICE void where(const M* mask, const T* a, const T* b, T* out, const WhereMap& m) {
    const u32 flat = (m.flags | m.flags >> 3) & (MASK_TIGHT | A_TIGHT | B_TIGHT);
    const bool mask_moves = (m.flags & MASK_SCALAR) == 0, a_moves = (m.flags & A_SCALAR) == 0;
    const bool b_moves = (m.flags & B_SCALAR) == 0;
    if (flat == (MASK_TIGHT | A_TIGHT | B_TIGHT)) {
        if constexpr (ON_HOST) {
            for_runs(m.count, m.count, [&](u64 i, u64 n) {
                choose(mask + (mask_moves ? i : 0), mask_moves, a + (a_moves ? i : 0), a_moves, b + (b_moves ? i : 0), b_moves,
                       out + i, n);
            });
        } else {
            constexpr u32 N = ACCESS / (sizeof(T) > sizeof(M) ? sizeof(T) : sizeof(M));
            const bool aligned = (!mask_moves || is_aligned<M, N>(mask)) && (!a_moves || is_aligned<T, N>(a)) &&
                (!b_moves || is_aligned<T, N>(b)) && is_aligned<T, N>(out);
            const u64 packs = aligned ? m.count / N : 0;
            for (u64 p = thread_number(); p < packs; p += thread_count()) {
                const Pack<M, N> c = load_or_repeat<N>(mask, mask_moves, p);
                const Pack<T, N> x = load_or_repeat<N>(a, a_moves, p), y = load_or_repeat<N>(b, b_moves, p);
                Pack<T, N> z;
                UNROLL
                for (u32 j = 0; j < N; j++) z.at[j] = c.at[j] != 0 ? x.at[j] : y.at[j];
                write_pack<N>(out + p * N, z);
            }
            for (u64 i = packs * N + thread_number(); i < m.count; i += thread_count())
                out[i] = mask[mask_moves ? i : 0] != 0 ? a[a_moves ? i : 0] : b[b_moves ? i : 0];
        }
        return;
    }
    if constexpr (ON_HOST) {
        const u32 last = m.rank - 1; // without dims every input is a scalar
        for_runs(m.count, m.dims[last], [&](u64 i, u64 n) {
            const ThreeOffsets at = offsets_of(i, m);
            choose(mask + at.a, m.mask[last], a + at.b, m.a[last], b + at.c, m.b[last], out + i, n);
        });
    } else {
        for (u64 i = thread_number(); i < m.count; i += thread_count()) {
            const ThreeOffsets at = offsets_of(i, m);
            out[i] = mask[at.a] != 0 ? a[at.b] : b[at.c];
        }
    }
}

#define WHERE(M)                                                                                                   \
    KERNEL(PASTE4(select_where_, M, _, DTYPE), const M* mask, const T* a, const T* b, T* out, WhereMap map) {      \
        where(mask, a, b, out, map);                                                                               \
    }
WHERE(u8)
WHERE(u32)
WHERE(i64)

// ---- flip -------------------------------------------------------------------------------------------------------------
DEVICE u64 flipped(const FlipMap& m, u64 i) {
    return m.start + offsets(i, m.count, m.rank, m.dims, m.strides, m.strides).a;
}

KERNEL(PASTE4(select_, flip, _, DTYPE), const T* in, T* out, FlipMap map) {
    if constexpr (ON_HOST) {
        const u64 inner = map.rank > 0 ? map.dims[map.rank - 1] : 1, step = map.rank > 0 ? map.strides[map.rank - 1] : 0;
        for_runs(map.count, inner, [&](u64 i, u64 n) {
            const u64 first = flipped(map, i);
            for (u64 j = 0; j < n; j++) out[i + j] = in[first + j * step];
        });
    } else {
        for (u64 i = thread_number(); i < map.count; i += thread_count()) out[i] = in[flipped(map, i)];
    }
}

// ---- triangles -------------------------------------------------------------------------------------------------------
// The row and column of an element in its matrix; next() moves to the following element.
struct Cursor {
    u64 row, column;
    METHOD void start(const TriangleMap& m, u64 number) {
        if ((m.first + m.count) >> 32 == 0 && m.columns >> 32 == 0 && m.rows >> 32 == 0) {
            const u32 line = (u32)number / (u32)m.columns;
            column = (u32)number - line * (u32)m.columns;
            row = line % (u32)m.rows;
        } else {
            const u64 line = number / m.columns;
            column = number - line * m.columns;
            row = line % m.rows;
        }
    }
    METHOD void next(const TriangleMap& m) {
        if (++column < m.columns) return;
        column = 0;
        if (++row == m.rows) row = 0;
    }
};
template <bool UPPER> DEVICE T kept(T v, const Cursor& at, const TriangleMap& m) {
    const i64 diagonal = (i64)at.column - (i64)at.row;
    const bool keep = UPPER ? diagonal >= m.diagonal : diagonal <= m.diagonal;
    return keep ? v : T{};
}

template <bool UPPER> DEVICE void triangle(const T* in, T* out, const TriangleMap& m) {
    Cursor at;
    if (m.contiguous != 0) {
        if constexpr (ON_HOST) {
            for_runs(m.count, m.count, [&](u64 i, u64 n) {
                at.start(m, m.first + i);
                for (u64 j = i; j < i + n; j++, at.next(m)) out[j] = kept<UPPER>(in[j], at, m);
            });
        } else {
            constexpr u32 N = ACCESS / sizeof(T);
            const u64 packs = is_aligned<T, N>(in) && is_aligned<T, N>(out) ? m.count / N : 0;
            for (u64 p = thread_number(); p < packs; p += thread_count()) {
                Pack<T, N> v = load_pack<N>(in + p * N);
                at.start(m, m.first + p * N);
                UNROLL
                for (u32 j = 0; j < N; j++, at.next(m)) v.at[j] = kept<UPPER>(v.at[j], at, m);
                write_pack<N>(out + p * N, v);
            }
            for (u64 i = packs * N + thread_number(); i < m.count; i += thread_count()) {
                at.start(m, m.first + i);
                out[i] = kept<UPPER>(in[i], at, m);
            }
        }
        return;
    }
    if constexpr (ON_HOST) {
        const u64 inner = m.rank > 0 ? m.dims[m.rank - 1] : 1, step = m.rank > 0 ? m.strides[m.rank - 1] : 0;
        for_runs(m.count, inner, [&](u64 i, u64 n) {
            const u64 first = offsets(i, m.count, m.rank, m.dims, m.strides, m.strides).a;
            at.start(m, m.first + i);
            for (u64 j = 0; j < n; j++, at.next(m)) out[i + j] = kept<UPPER>(in[first + j * step], at, m);
        });
    } else {
        for (u64 i = thread_number(); i < m.count; i += thread_count()) {
            at.start(m, m.first + i);
            out[i] = kept<UPPER>(in[offsets(i, m.count, m.rank, m.dims, m.strides, m.strides).a], at, m);
        }
    }
}

KERNEL(PASTE4(select_, tril, _, DTYPE), const T* in, T* out, TriangleMap map) { triangle<false>(in, out, map); }
KERNEL(PASTE4(select_, triu, _, DTYPE), const T* in, T* out, TriangleMap map) { triangle<true>(in, out, map); }

// ---- ranges ----------------------------------------------------------------------------------------------------------
// out[i] = f(i)
template <class F> DEVICE void fill_from_index(T* out, u64 count, F f) {
    if constexpr (ON_HOST) {
        for_runs(count, count, [&](u64 first, u64 n) {
            for (u64 i = first; i < first + n; i++) out[i] = f(i);
        });
    } else {
        constexpr u32 N = ACCESS / sizeof(T);
        const u64 packs = is_aligned<T, N>(out) ? count / N : 0;
        for (u64 p = thread_number(); p < packs; p += thread_count()) {
            Pack<T, N> v;
            UNROLL
            for (u32 j = 0; j < N; j++) v.at[j] = f(p * N + j);
            write_pack<N>(out + p * N, v);
        }
        for (u64 i = packs * N + thread_number(); i < count; i += thread_count()) out[i] = f(i);
    }
}

// Integers wrap in 64 bits. Floats are rounded once to f64 and once to T.
#if DTYPE_IS_FLOAT
typedef f64 Number;
DEVICE f64 after_steps(u64 i, f64 start, f64 step) { return m_fma((f64)i, step, start); }
#else
typedef i64 Number;
DEVICE i64 after_steps(u64 i, i64 start, i64 step) { return (i64)((u64)start + i * (u64)step); }
#endif

KERNEL(PASTE4(select_, arange, _, DTYPE), T* out, u64 count, Number start, Number step) {
    fill_from_index(out, count, [&](u64 i) { return convert<T>(after_steps(i, start, step)); });
}

// start + i (end - start) / (count - 1) in f64, rounded to T. The first and the last element are exactly start and end.
KERNEL(PASTE4(select_, linspace, _, DTYPE), T* out, u64 count, T start, T end) {
    const f64 first = convert<f64>(start), last = convert<f64>(end), distance = last - first;
    const f64 intervals = (f64)(count - 1);
    fill_from_index(out, count, [&](u64 i) {
        if (i == 0) return start;
        if (i == count - 1) return end;
        const f64 sum = first + (f64)i * distance / intervals, share = (f64)i / intervals;
        // The distance can overflow although both ends are finite.
        const bool is_finite = m_abs(sum) <= 0x1.fffffffffffffp+1023;
        return convert<T>(is_finite ? sum : first * (1.0 - share) + last * share);
    });
}

} // namespace hipstack
