//! Indexing: gather (index_select, embedding), scatter, and scatter_add (index_add).
//
// ids are u8, u32, i32 or i64 (id_type), and index one axis of `length` elements. A negative or too large id moves nothing; gather writes a
// zero for it. The first thread that finds one writes it to *fault, if that is free.
//
// gather: out[i] = src[src(i) + id(i) · axis_stride]; out is tight, row-major over dims. With `packed`, elements are packs of 16 bytes, and
// count, dims, strides and axis_stride count packs. Launch: one-dimensional, any block, any grid.
//
// scatter, scatter_add: a line is a row along the axis. For each line, in the order of its ids,
//     dst[dst(line) + id(j) · dst_axis] = src[src(line) + j · src_axis]      (scatter_add: += in the compute type)
// A line's elements of dst are divided among `owners` threads. Each of them reads all ids of the line and writes the elements that it owns,
// so every destination is updated in the order of the ids, without atomics. Elements of dst are distinct, and dst overlaps nothing.
// scatter_add of small floats runs on f32. Launch: one-dimensional, any block, any grid; src/launch/index.rs chooses.
//
// No shared memory, no barriers.
#include "portable.hpp"
#include "ids.hpp"

namespace hipstack {

struct GatherMap {
    u64 count, axis_stride, length;
    u32 rank, id_type, packed, operation, axis, reserved;
    u64 dims[MAX_RANK], src[MAX_RANK], ids[MAX_RANK];
};
struct ScatterMap {
    u64 lines, owners, count, length;
    u64 dst_axis, ids_axis, src_axis;
    u32 rank, id_type, operation, axis;
    u64 dims[MAX_RANK], dst[MAX_RANK], ids[MAX_RANK], src[MAX_RANK];
};
SIZE(GatherMap, 240) OFFSET(GatherMap, rank, 24) OFFSET(GatherMap, dims, 48) OFFSET(GatherMap, src, 112)
OFFSET(GatherMap, ids, 176)
SIZE(ScatterMap, 328) OFFSET(ScatterMap, dst_axis, 32) OFFSET(ScatterMap, rank, 56) OFFSET(ScatterMap, dims, 72)
OFFSET(ScatterMap, dst, 136) OFFSET(ScatterMap, ids, 200) OFFSET(ScatterMap, src, 264)

// ---- gather ----------------------------------------------------------------------------------------------------------
// Contiguous elements of a thread, on the host.
static constexpr u64 STEP = 128;
// Contiguous lines of a thread, and most owners of a line, on the host: another pass over the same ids gains little.
static constexpr u64 LINES = 64, MOST_OWNERS = 4;

template <class U, class I>
DEVICE void gather_run(const U* src, u64 step, const I* ids, u64 id_step, U* out, u64 n, IndexFault* fault, const GatherMap& m) {
    if (id_step == 0) {
        const u64 id = (u64)*ids;
        if (id >= m.length) {
            report(fault, m, (i64)id);
            for (u64 k = 0; k < n; k++) out[k] = U{};
        } else if (const U* const from = src + id * m.axis_stride; step == 1) {
            for (u64 k = 0; k < n; k++) out[k] = from[k];
        } else {
            for (u64 k = 0; k < n; k++) out[k] = from[k * step];
        }
        return;
    }
    for (u64 k = 0; k < n; k++) {
        const u64 id = (u64)ids[k * id_step];
        if (id < m.length) {
            out[k] = src[k * step + id * m.axis_stride];
        } else {
            report(fault, m, (i64)id);
            out[k] = U{};
        }
    }
}

// On GPUs: packs of a row in flight in a thread.
static constexpr u32 SIDE_BY_SIDE = 2;
// Gathers rows of packs that share an id, along the innermost dimension. A row is read by a power of two of threads: one for each pack up
// to eight, above that one for each SIDE_BY_SIDE packs, at most a block.
template <class U, class I> DEVICE void gather_rows(const U* src, const I* ids, U* out, IndexFault* fault, const GatherMap& m) {
    const u64 inner = m.dims[m.rank - 1], rows = m.count / inner;
    u32 shift = 0;
    while ((2u << shift) <= blockDim.x && ((u64)(shift < 3 ? 1 : SIDE_BY_SIDE) << shift) < inner) shift++;
    const u32 width = 1u << shift, lane = threadIdx.x & (width - 1), each = blockDim.x >> shift;
    for (u64 row = (u64)blockIdx.x * each + (threadIdx.x >> shift); row < rows; row += (u64)gridDim.x * each) {
        const Offsets at = offsets(row, rows, m.rank - 1, m.dims, m.src, m.ids);
        const u64 id = (u64)ids[at.b];
        const bool there = id < m.length;
        if (!there && lane == 0) report(fault, m, (i64)id);
        const U* const from = src + at.a + (there ? id : 0) * m.axis_stride;
        U* const to = out + row * inner;
        for (u64 first = lane; first < inner; first += (u64)width * SIDE_BY_SIDE) {
            // As words, because clang keeps packs of small integers in memory.
            Pack<u32, 4> moved[SIDE_BY_SIDE];
            UNROLL
            for (u32 k = 0; k < SIDE_BY_SIDE; k++) {
                moved[k] = Pack<u32, 4>{};
                if (there && first + k * width < inner) moved[k] = load_pack<4>((const u32*)(from + first + k * width));
            }
            UNROLL
            for (u32 k = 0; k < SIDE_BY_SIDE; k++)
                if (first + k * width < inner) write_pack((u32*)(to + first + k * width), moved[k]);
        }
    }
}

// A negative id becomes an unsigned number above any length.
template <class U, class I> DEVICE void gather_as(const U* src, const I* ids, U* out, IndexFault* fault, const GatherMap& m) {
    if constexpr (ON_HOST) {
        const u64 inner = m.rank > 0 ? m.dims[m.rank - 1] : 1;
        const u64 step = m.rank > 0 ? m.src[m.rank - 1] : 0, id_step = m.rank > 0 ? m.ids[m.rank - 1] : 0;
        for (u64 first = thread_number() * STEP; first < m.count; first += thread_count() * STEP) {
            const u64 end = m.count - first < STEP ? m.count : first + STEP;
            for (u64 i = first; i < end;) {
                const u64 rest = inner - i % inner, n = rest < end - i ? rest : end - i;
                const Offsets at = offsets(i, m.count, m.rank, m.dims, m.src, m.ids);
                gather_run(src + at.a, step, ids + at.b, id_step, out + i, n, fault, m);
                i += n;
            }
        }
    } else {
        if constexpr (sizeof(U) == 16) return gather_rows(src, ids, out, fault, m);
        // Several elements in flight: first all ids are loaded, then all elements, then all are stored.
        constexpr u32 SIDE = 4;
        for (u64 first = thread_number(); first < m.count; first += thread_count() * SIDE) {
            u64 from[SIDE], id[SIDE];
            U moved[SIDE];
            UNROLL
            for (u32 k = 0; k < SIDE; k++) {
                const u64 i = first + k * thread_count();
                const Offsets at = offsets(i < m.count ? i : first, m.count, m.rank, m.dims, m.src, m.ids);
                from[k] = at.a, id[k] = (u64)ids[at.b];
            }
            UNROLL
            for (u32 k = 0; k < SIDE; k++) {
                moved[k] = U{};
                if (id[k] < m.length) moved[k] = src[from[k] + id[k] * m.axis_stride];
            }
            UNROLL
            for (u32 k = 0; k < SIDE; k++) {
                const u64 i = first + k * thread_count();
                if (i < m.count) out[i] = moved[k];
                if (id[k] >= m.length) report(fault, m, (i64)id[k]);
            }
        }
    }
}

static constexpr u32 PACK = ACCESS / sizeof(T);

KERNEL(PASTE4(index_, gather, _, DTYPE), const T* src, const u8* ids, T* out, IndexFault* fault, GatherMap map) {
    if (map.packed != 0) {
        typedef Pack<T, PACK> P;
#define GATHER_PACKS(ids) gather_as((const P*)src, ids, (P*)out, fault, map)
        WITH_IDS(ids, map.id_type, GATHER_PACKS)
    } else {
#define GATHER(ids) gather_as(src, ids, out, fault, map)
        WITH_IDS(ids, map.id_type, GATHER)
    }
}

// ---- scatter ----------------------------------------------------------------------------------------------------------
struct Replace {
    static METHOD void put(T& to, T from) { to = from; }
};
#if defined(DTYPE_f16) || defined(DTYPE_bf16) || defined(DTYPE_f8e4m3)
#define HAS_ADD 0
#else
#define HAS_ADD 1
#endif
#if HAS_ADD
struct Add {
    static METHOD void put(T& to, T from) {
        if constexpr (Dtype<T>::FLOAT) {
            to = to + from;
        } else {
            typedef Dtype<T>::Wrap W;
            to = (T)((W)to + (W)from);
        }
    }
};
#endif

// `lines` neighbouring lines, of which the caller owns `own` elements from `first` on. Only the owner of the first element reports an
// invalid id, so that it is reported exactly once.
struct Lines {
    u64 lines, first, own, dst_step, ids_step, src_step;
};
template <class Op, class I>
DEVICE void walk_lines(T* dst, const I* ids, const T* src, const Lines& l, IndexFault* fault, const ScatterMap& m) {
    for (u64 j = 0; j < m.count; j++) {
        if (l.ids_step == 0 || l.lines == 1) {
            const u64 id = (u64)ids[j * m.ids_axis], offset = id - l.first;
            if (offset < l.own) {
                T* const to = dst + id * m.dst_axis;
                const T* const from = src + j * m.src_axis;
                for (u64 k = 0; k < l.lines; k++) Op::put(to[k * l.dst_step], from[k * l.src_step]);
            } else if (l.first == 0 && id >= m.length) {
                report(fault, m, (i64)id);
            }
            continue;
        }
        for (u64 k = 0; k < l.lines; k++) {
            const u64 id = (u64)ids[j * m.ids_axis + k * l.ids_step], offset = id - l.first;
            if (offset < l.own) Op::put(dst[id * m.dst_axis + k * l.dst_step], src[j * m.src_axis + k * l.src_step]);
            else if (l.first == 0 && id >= m.length) report(fault, m, (i64)id);
        }
    }
}
template <class Op>
DEVICE void walk(T* dst, const u8* ids, u64 at, const T* src, const Lines& l, IndexFault* fault, const ScatterMap& m) {
#define WALK(ids) walk_lines<Op>(dst, ids + at, src, l, fault, m)
    WITH_IDS(ids, m.id_type, WALK)
}

template <class Op> DEVICE void scatter(T* dst, const u8* ids, const T* src, IndexFault* fault, const ScatterMap& m) {
    const u64 owners = ON_HOST && m.owners > MOST_OWNERS ? MOST_OWNERS : m.owners, together = ON_HOST ? LINES : 1;
    const u64 number = worker_number();
    // Length and strides of the innermost dimension, for lines that a thread processes together.
    const bool inside = ON_HOST && m.rank > 0;
    const u64 inner = inside ? m.dims[m.rank - 1] : 1;
    const u64 dst_step = inside ? m.dst[m.rank - 1] : 0, ids_step = inside ? m.ids[m.rank - 1] : 0;
    const u64 src_step = inside ? m.src[m.rank - 1] : 0;
    const u64 share = (m.length + owners - 1) / owners, groups = (m.lines + together - 1) / together;
    for (u64 u = number; u < groups * owners; u += thread_count()) {
        // Neighbouring threads take neighbouring lines.
        const u64 owner = u / groups, first = owner * share;
        const u64 left = first < m.length ? m.length - first : 0;
        const u64 begin = (u - owner * groups) * together;
        const u64 end = m.lines - begin < together ? m.lines : begin + together;
        // An empty axis still needs one owner that checks the ids.
        if (left == 0 && first != 0) continue;
        for (u64 line = begin; line < end;) {
            const u64 rest = inner - line % inner, n = together == 1 ? 1 : rest < end - line ? rest : end - line;
            const ThreeOffsets at = three_offsets(line, m.lines, m.rank, m.dims, m.dst, m.ids, m.src);
            const Lines lines = {n, first, left < share ? left : share, dst_step, ids_step, src_step};
            walk<Op>(dst + at.a, ids, at.b, src + at.c, lines, fault, m);
            line += n;
        }
    }
}

#define SCATTER_KERNEL(op, Op)                                                                                          \
    KERNEL(PASTE4(index_, op, _, DTYPE), T* dst, const u8* ids, const T* src, IndexFault* fault, ScatterMap map) {      \
        scatter<Op>(dst, ids, src, fault, map);                                                                         \
    }
SCATTER_KERNEL(scatter, Replace)
#if HAS_ADD
SCATTER_KERNEL(scatter_add, Add)
#endif

} // namespace hipstack
