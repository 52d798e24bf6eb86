//! Selection of the least or greatest elements of rows, unsorted, to shorten the rows before a sort.
//
// topk_select: selects the first `keep` elements of each section of a row, in the order of sort.hip, and writes them in the order of their
// positions. A block holds a section in registers and searches for the greatest selected key bit by bit, by counting smaller keys. Block
// 256, any grid. src/launch/topk.rs has the length of sections.
//
// The output never overlaps the input. in_positions may be null; then an element's position is its index in the row.
#include "portable.hpp"

namespace hipstack {

// Row r has `length` elements, from r * length on. The elements selected from its section s are written from r * out_row + s * keep on.
struct TopkMap {
    u64 rows, length, keep, out_row;
    u64 sections; // of a row
    u32 descending, reserved;
};
SIZE(TopkMap, 48) OFFSET(TopkMap, descending, 40)

// Elements of a thread in a section.
static constexpr u32 ITEMS = sizeof(T) == 8 ? 8 : 16, SECTION = MAX_BLOCK * ITEMS, INDEX_BITS = sizeof(T) == 8 ? 11 : 12;
static constexpr u32 LANES = 32, GROUPS = MAX_BLOCK / LANES;

// A key is an unsigned number with the order of the selection. Small floats are widened to f32, whose last bits are then constant and are
// left out.
typedef Dtype<T>::Wrap Key;
static constexpr u32 RANK_BITS = Dtype<T>::FLOAT || sizeof(T) >= 4 ? sizeof(Key) * 8 : Dtype<T>::BITS;
template <class U> struct Silent { static constexpr u32 BITS = 0; };
template <> struct Silent<f8e4m3> { static constexpr u32 BITS = 20; };
template <> struct Silent<f16> { static constexpr u32 BITS = 13; };
template <> struct Silent<bf16> { static constexpr u32 BITS = 16; };
static constexpr u32 SILENT = Silent<T>::BITS;
static constexpr u32 KEY_BITS = RANK_BITS - SILENT;
static constexpr Key ALL = (Key)~(Key)0 >> (sizeof(Key) * 8 - KEY_BITS);
DEVICE Key key_of(T v, bool turned) {
    const Key sign = Dtype<T>::SIGNED ? (Key)1 << (RANK_BITS - 1) : 0;
    const Key key = (((Key)rank_of<false>(v) ^ sign) >> SILENT) & ALL;
    return turned ? key ^ ALL : key;
}

// ---- block-wide sum --------------------------------------------------------------------------------------------------
// The sum over all threads. `turn` counts the calls and alternates between two sets of slots, so that one barrier suffices.
DEVICE u32 block_total(u32 mine, u32& turn) {
    __shared__ u32 slots[2 * GROUPS];
    u32* const slot = slots + (turn++ & 1u) * GROUPS;
    UNROLL
    for (u32 mask = 1; mask < LANES; mask *= 2) mine += shuffle_xor(mine, mask);
    if (threadIdx.x % LANES == 0) slot[threadIdx.x / LANES] = mine;
    __syncthreads();
    u32 all = 0;
    UNROLL
    for (u32 g = 0; g < GROUPS; g++) all += slot[g];
    return all;
}

// The selection: keys below `key`, and equal keys at indices below `index`.
struct Bound {
    Key key;
    u32 index;
    METHOD bool takes(Key k, u32 at) const { return k < key || (k == key && at < index); }
};
DEVICE Bound bound_of(const Key (&keys)[ITEMS], u32 keep, u32& turn) {
    Bound bound = {0, 0};
    u32 below = 0; // number of keys below bound.key
    for (u32 bit = KEY_BITS; bit-- > 0;) {
        const Key test = bound.key | (Key)1 << bit;
        u32 mine = 0;
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) mine += keys[k] < test ? 1u : 0u;
        const u32 count = block_total(mine, turn);
        if (count <= keep) bound.key = test, below = count;
        if (count == keep) return bound;
    }
    // Among equal keys the first ones are selected. Bit k of equal: item k has the bound's key.
    u32 equal = 0;
    UNROLL
    for (u32 k = 0; k < ITEMS; k++) equal |= keys[k] == bound.key ? 1u << k : 0u;
    for (u32 bit = INDEX_BITS + 1; bit-- > 0;) {
        // Number of the thread's items at indices below test.
        const u32 test = bound.index | 1u << bit, items = test > threadIdx.x ? (test - threadIdx.x + MAX_BLOCK - 1) / MAX_BLOCK : 0;
        const u32 first = items < 32u ? equal & ((1u << items) - 1u) : equal;
        const u32 count = below + block_total((u32)__popc(first), turn);
        if (count <= keep) bound.index = test;
        if (count == keep) return bound;
    }
    return bound;
}

KERNEL(PASTE4(topk_, select, _, DTYPE), const T* in, const u32* in_positions, T* values, u32* positions, TopkMap m) {
    __shared__ u32 before[ITEMS * GROUPS]; // number of elements selected before item k of a group
    const bool turned = m.descending != 0;
    const u32 lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    u32 turn = 0;
    for (u64 number = blockIdx.x; number < m.rows * m.sections; number += gridDim.x) {
        const u64 row = number / m.sections, section = number - row * m.sections, start = section * SECTION;
        const u32 count = m.length - start < SECTION ? (u32)(m.length - start) : SECTION;
        const u32 keep = m.keep < count ? (u32)m.keep : count;
        const T* const from = in + row * m.length + start;
        // Missing elements of a section get the greatest key and the last indices, so they are never selected.
        Key keys[ITEMS];
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 at = k * MAX_BLOCK + threadIdx.x;
            // Branch-free, because lane masks for so many comparisons exceed AMD's scalar registers.
            const i32 lacks = (i32)(count - 1 - at) >> 31;
            keys[k] = (key_of(from[at & ~(u32)lacks], turned) | (Key)(i64)lacks) & ALL;
        }
        const Bound bound = bound_of(keys, keep, turn);
        u32 takes = 0; // bit k: item k is selected
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) takes |= bound.takes(keys[k], k * MAX_BLOCK + threadIdx.x) ? 1u << k : 0u;
        ROLLED
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 vote = group_ballot((takes >> k & 1u) != 0);
            if (lane == 0) before[k * GROUPS + group] = __popc(vote);
        }
        __syncthreads();
        if (threadIdx.x < LANES) {
            u32 sum = 0;
            ROLLED
            for (u32 e = lane * (ITEMS * GROUPS / LANES); e < (lane + 1) * (ITEMS * GROUPS / LANES); e++) sum += before[e];
            u32 prefix = 0, all = sum;
            ROLLED
            for (u32 bit = 1; bit < LANES; bit *= 2) {
                const u32 other = shuffle_xor(all, bit);
                prefix += other & (0u - (u32)((lane & bit) != 0));
                all += other;
            }
            ROLLED
            for (u32 e = lane * (ITEMS * GROUPS / LANES); e < (lane + 1) * (ITEMS * GROUPS / LANES); e++) {
                const u32 own = before[e];
                before[e] = prefix;
                prefix += own;
            }
        }
        __syncthreads();
        const u64 to = row * m.out_row + section * m.keep, first = row * m.length + start;
        ROLLED
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 vote = group_ballot((takes >> k & 1u) != 0);
            if ((takes >> k & 1u) == 0) continue;
            const u32 at = k * MAX_BLOCK + threadIdx.x, rank = before[k * GROUPS + group] + __popc(vote & ((1u << lane) - 1u));
            values[to + rank] = in[first + at];
            positions[to + rank] = in_positions ? in_positions[first + at] : (u32)(start + at);
        }
        __syncthreads();
    }
}

} // namespace hipstack
