//! Inclusive scans along lines: prefix sums and prefix products.
//
// scan_<op>: a block iterates over a line, or over a section of it, starting from the section's offset. Block a multiple of 64.
// scan_totals_<op>, scan_offsets_<op>: for long lines, which are split into sections for many blocks. The first computes the totals of the
// sections, the second replaces them by their exclusive scan; scan_<op> with these offsets is the third step. No block waits for another.
// scan_cols_<op>: a thread scans a line. For interleaved lines, and for short ones.
// Launch: one-dimensional, any grid; src/launch/scan.rs chooses kernels and sections.
//
// Input and output are tight and do not overlap. Integers wrap in their dtype. Sums are kept in f32 (f64 for f64), and each element is
// rounded once. The threads of a block are scanned as a tree, and a running sum has several levels, so there is no long chain of additions.
#include "portable.hpp"

// Whether groups of threads scan by shuffles. On the host a shuffle costs as much as a barrier, so blocks scan in shared memory there.
#ifndef GROUPS
#define GROUPS !ON_HOST
#endif

namespace hipstack {

// Element i of line o * inner + c lies at (o * length + i) * inner + c. inner is 1 but for scan_cols.
struct ScanMap {
    u64 lines, length, inner;
    u64 section, sections; // elements of a section (the last of a line may have fewer); sections of a line
};
SIZE(ScanMap, 40) OFFSET(ScanMap, section, 24)

template <class U, bool FLOAT> struct AccumulatorOf { typedef typename Dtype<U>::Compute Type; };
template <class U> struct AccumulatorOf<U, false> { typedef typename Dtype<U>::Wrap Type; };
typedef AccumulatorOf<T, Dtype<T>::FLOAT>::Type Sum;

// Contiguous elements of a thread: on a GPU those of a 16-byte access, at most 8.
static constexpr u32 ITEMS = ON_HOST ? 32 : sizeof(T) == 1 ? 8 : ACCESS / sizeof(T);
// Terms of a level of the running sum.
static constexpr u32 STEPS = 64;

struct sum_op {
    static METHOD Sum identity() { return Sum(0); }
    static METHOD Sum join(Sum a, Sum b) { return a + b; }
};
struct prod_op {
    static METHOD Sum identity() { return Sum(1); }
    static METHOD Sum join(Sum a, Sum b) { return a * b; }
};
DEVICE Sum widened(T v) { return (Sum)widen(v); }
DEVICE T rounded(Sum v) { return narrow<T>((C)v); }

// A running sum: 64 terms on the first level, 64 of those on the second, the rest on the third.
template <class Op> struct Walk {
    Sum level0 = Op::identity(), level1 = Op::identity(), level2 = Op::identity();
    u32 terms = 0;
    METHOD Sum before() const { return Op::join(level2, Op::join(level1, level0)); }
    METHOD void add(Sum term) {
        level0 = Op::join(level0, term);
        if (++terms % STEPS != 0) return;
        level1 = Op::join(level1, level0);
        level0 = Op::identity();
        if (terms % (STEPS * STEPS) != 0) return;
        level2 = Op::join(level2, level1);
        level1 = Op::identity();
    }
};

// The exclusive prefix of the thread's value and the total of the block, by a Hillis-Steele scan.
struct Joined {
    Sum before, all;
};
DEVICE Sum* block_sums() {
    __shared__ Sum sums[2 * MAX_BLOCK];
    return sums;
}
template <class Op> DEVICE Joined block_scan(Sum mine) {
    Sum *now = block_sums(), *next = now + MAX_BLOCK;
    now[threadIdx.x] = mine;
    __syncthreads();
    for (u32 reach = 1; reach < blockDim.x; reach *= 2) {
        const Sum own = now[threadIdx.x];
        next[threadIdx.x] = threadIdx.x < reach ? own : Op::join(now[threadIdx.x - reach], own);
        __syncthreads();
        Sum* const other = now;
        now = next, next = other;
    }
    const Joined joined = {threadIdx.x > 0 ? now[threadIdx.x - 1] : Op::identity(), now[blockDim.x - 1]};
    // All threads have read the sums before the next call overwrites them.
    __syncthreads();
    return joined;
}

// Up to ITEMS elements, not widened.
DEVICE void load_items(const T* p, u32 n, bool aligned, T (&items)[ITEMS]) {
    if (!ON_HOST && aligned && n == ITEMS) {
        const Pack<T, ITEMS> pack = load_pack<ITEMS>(p);
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) items[k] = pack.at[k];
        return;
    }
    UNROLL
    for (u32 k = 0; k < ITEMS; k++) {
        if (k < n) items[k] = p[k];
    }
}
DEVICE void store_items(T* p, u32 n, bool aligned, const T (&items)[ITEMS]) {
    if (!ON_HOST && aligned && n == ITEMS) {
        Pack<T, ITEMS> pack;
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) pack.at[k] = items[k];
        write_pack<ITEMS>(p, pack);
        return;
    }
    UNROLL
    for (u32 k = 0; k < ITEMS; k++) {
        if (k < n) p[k] = items[k];
    }
}
DEVICE u32 items_left(u64 i, u64 n) { return i >= n ? 0 : n - i < ITEMS ? (u32)(n - i) : ITEMS; }
DEVICE u64 least_of(u64 a, u64 b) { return a < b ? a : b; }

// A section: the index of its first element, and its length.
struct Section {
    u64 start, length;
};
DEVICE Section section_of(const ScanMap& m, u64 number) {
    const u64 line = m.sections == 1 ? number : number / m.sections, begin = (number - line * m.sections) * m.section;
    return Section{line * m.length + begin, least_of(m.section, m.length - begin)};
}

// ---- a block along a section ------------------------------------------------------------------------------------------
#if GROUPS
// ---- groups of 32 threads --------------------------------------------------------------------------------------------
// The same for every wave size. A thread of a group has PACKS packs, 32 packs apart. All are loaded before the first is used, and the
// accesses of a group are coalesced.
static constexpr u32 LANES = 32, SLOTS = MAX_BLOCK / LANES;
static constexpr u32 PACKS = sizeof(T) <= 2 ? 2 : 4;

// The exclusive prefix of the thread's value and the total of the group, by a tree.
template <class Op> DEVICE Joined group_scan(Sum mine, u32 lane) {
    Joined joined = {Op::identity(), mine};
    UNROLL
    for (u32 bit = 1; bit < LANES; bit *= 2) {
        const Sum other = shuffle_xor(joined.all, bit);
        joined.before = (lane & bit) != 0 ? Op::join(other, joined.before) : joined.before;
        joined.all = Op::join(joined.all, other);
    }
    return joined;
}

// The exclusive prefix of the thread's group and the total of the block. `turn` counts the calls and alternates between two sets of slots,
// so that one barrier suffices.
template <class Op> DEVICE Joined join_groups(Sum mine, u32 turn) {
    __shared__ Sum sums[2 * SLOTS];
    Sum* const slot = sums + (turn & 1u) * SLOTS;
    const u32 group = threadIdx.x / LANES, groups = blockDim.x / LANES;
    if (threadIdx.x % LANES == 0) slot[group] = mine;
    __syncthreads();
    Joined joined = {Op::identity(), Op::identity()};
    UNROLL
    for (u32 g = 0; g < groups; g++) {
        if (g == group) joined.before = joined.all;
        joined.all = Op::join(joined.all, slot[g]);
    }
    return joined;
}

// One step of a block over the next `left` elements: N packs of V elements for each thread, of which those inside count. V divides `left`.
template <class Op, u32 N, u32 V> DEVICE void scan_step(const T* from, T* to, u32 left, Sum offset, Walk<Op>& walk, u32 turn) {
    const u32 lane = threadIdx.x % LANES, mine_at = threadIdx.x / LANES * (LANES * N * V) + lane * V;
    Pack<T, V> packs[N];
    UNROLL
    for (u32 j = 0; j < N; j++) {
        const u32 at = mine_at + j * (LANES * V);
        packs[j] = load_pack<V>(from + (at < left ? at : 0));
    }
    Sum sums[N][V], before[N], group_sum = Op::identity();
    UNROLL
    for (u32 j = 0; j < N; j++) {
        const bool inside = mine_at + j * (LANES * V) < left;
        Sum so_far = Op::identity();
        UNROLL
        for (u32 k = 0; k < V; k++) {
            so_far = Op::join(so_far, widened(packs[j].at[k]));
            sums[j][k] = so_far;
        }
        const Joined joined = group_scan<Op>(inside ? so_far : Op::identity(), lane);
        before[j] = Op::join(group_sum, joined.before);
        group_sum = Op::join(group_sum, joined.all);
    }
    const Joined joined = join_groups<Op>(group_sum, turn);
    const Sum prefix = Op::join(Op::join(offset, walk.before()), joined.before);
    UNROLL
    for (u32 j = 0; j < N; j++) {
        const u32 at = mine_at + j * (LANES * V);
        const Sum pack_prefix = Op::join(prefix, before[j]);
        Pack<T, V> pack;
        UNROLL
        for (u32 k = 0; k < V; k++) pack.at[k] = rounded(Op::join(pack_prefix, sums[j][k]));
        if (at < left) write_pack<V>(to + at, pack);
    }
    walk.add(joined.all);
}

template <class Op> DEVICE void scan_rows(const T* in, T* out, const Sum* offsets, const ScanMap& m) {
    u32 turn = 0;
    for (u64 number = blockIdx.x; number < m.lines * m.sections; number += gridDim.x) {
        const Section section = section_of(m, number);
        const T* const from = in + section.start;
        T* const to = out + section.start;
        const Sum offset = m.sections > 1 ? offsets[number] : Op::identity();
        const bool aligned = is_aligned<T, ITEMS>(from) && is_aligned<T, ITEMS>(to);
        const u64 packed = aligned ? section.length / ITEMS * ITEMS : 0;
        Walk<Op> walk;
        u64 at = 0;
        while (at < packed) {
            const u32 step = (u32)least_of(packed - at, blockDim.x * (PACKS * ITEMS));
            scan_step<Op, PACKS, ITEMS>(from + at, to + at, step, offset, walk, turn++);
            at += step;
        }
        while (at < section.length) {
            const u32 step = (u32)least_of(section.length - at, blockDim.x);
            scan_step<Op, 1, 1>(from + at, to + at, step, offset, walk, turn++);
            at += step;
        }
    }
}
#else
template <class Op> DEVICE void scan_rows(const T* in, T* out, const Sum* offsets, const ScanMap& m) {
    for (u64 number = blockIdx.x; number < m.lines * m.sections; number += gridDim.x) {
        const Section section = section_of(m, number);
        const T* const from = in + section.start;
        T* const to = out + section.start;
        const bool in_aligned = is_aligned<T, ITEMS>(from), out_aligned = is_aligned<T, ITEMS>(to);
        const Sum offset = m.sections > 1 ? offsets[number] : Op::identity();
        Walk<Op> walk;
        for (u64 first = 0; first < section.length; first += (u64)blockDim.x * ITEMS) {
            const u64 i = first + (u64)threadIdx.x * ITEMS;
            const u32 n = items_left(i, section.length);
            T items[ITEMS];
            load_items(from + i, n, in_aligned, items);
            Sum sums[ITEMS], so_far = Op::identity();
            UNROLL
            for (u32 k = 0; k < ITEMS; k++) {
                if (k < n) so_far = Op::join(so_far, widened(items[k]));
                sums[k] = so_far;
            }
            const Joined joined = block_scan<Op>(so_far);
            const Sum before = Op::join(Op::join(offset, walk.before()), joined.before);
            UNROLL
            for (u32 k = 0; k < ITEMS; k++) items[k] = rounded(Op::join(before, sums[k]));
            store_items(to + i, n, out_aligned, items);
            walk.add(joined.all);
        }
    }
}
#endif

template <class Op> DEVICE void scan_totals(const T* in, Sum* totals, const ScanMap& m) {
    for (u64 number = blockIdx.x; number < m.lines * m.sections; number += gridDim.x) {
        const Section section = section_of(m, number);
        const T* const from = in + section.start;
        const bool aligned = is_aligned<T, ITEMS>(from);
        Walk<Op> walk;
        for (u64 i = (u64)threadIdx.x * ITEMS; i < section.length; i += (u64)blockDim.x * ITEMS) {
            const u32 n = items_left(i, section.length);
            T items[ITEMS];
            load_items(from + i, n, aligned, items);
            Sum sum = Op::identity();
            UNROLL
            for (u32 k = 0; k < ITEMS; k++) {
                if (k < n) sum = Op::join(sum, widened(items[k]));
            }
            walk.add(sum);
        }
        const Joined joined = block_scan<Op>(walk.before());
        if (threadIdx.x == 0) totals[number] = joined.all;
    }
}

// A block scans the totals of a line.
template <class Op> DEVICE void scan_offsets(Sum* totals, const ScanMap& m) {
    for (u64 line = blockIdx.x; line < m.lines; line += gridDim.x) {
        Sum* const at = totals + line * m.sections;
        Walk<Op> walk;
        for (u64 first = 0; first < m.sections; first += blockDim.x) {
            const u64 i = first + threadIdx.x;
            const Joined joined = block_scan<Op>(i < m.sections ? at[i] : Op::identity());
            if (i < m.sections) at[i] = Op::join(walk.before(), joined.before);
            walk.add(joined.all);
        }
    }
}

// ---- a thread along a line --------------------------------------------------------------------------------------------
template <class Op> DEVICE void scan_columns(const T* in, T* out, const ScanMap& m) {
    for (u64 line = thread_number(); line < m.lines; line += thread_count()) {
        const u64 outer = line / m.inner, first = outer * m.length * m.inner + (line - outer * m.inner);
        Walk<Op> walk;
        for (u64 i = 0; i < m.length; i++) {
            walk.add(widened(in[first + i * m.inner]));
            out[first + i * m.inner] = rounded(walk.before());
        }
    }
}

// ---- kernels ----------------------------------------------------------------------------------------------------------
#define SCAN(op)                                                                                                           \
    KERNEL(PASTE4(scan_, op, _, DTYPE), const T* in, T* out, const Sum* offsets, ScanMap map) {                            \
        scan_rows<op##_op>(in, out, offsets, map);                                                                         \
    }                                                                                                                      \
    KERNEL(PASTE4(scan_totals_, op, _, DTYPE), const T* in, Sum* totals, ScanMap map) { scan_totals<op##_op>(in, totals, map); } \
    KERNEL(PASTE4(scan_offsets_, op, _, DTYPE), Sum* totals, ScanMap map) { scan_offsets<op##_op>(totals, map); }          \
    KERNEL(PASTE4(scan_cols_, op, _, DTYPE), const T* in, T* out, ScanMap map) { scan_columns<op##_op>(in, out, map); }
SCAN(sum)
SCAN(prod)

} // namespace hipstack
