//! Merge sort of rows of any length: pairs of a value and its position in the row, stable in both directions.
//
// sort_tiles: sorts each run of `run` neighbours of each row separately (run is a power of two from ITEMS to TILE). A block takes as many
// runs as fit its threads, with ITEMS elements each. The block is a multiple of 64 and has at least run / ITEMS threads, and exactly as
// many if a row has several runs.
// sort_merge: merges each pair of sorted runs of a row into one. A block writes TILE elements at a time; block 256.
// Both have a grid-stride loop, so any grid is right. src/launch/sort.rs says which passes sort a row.
//
// An output never overlaps an input. `values` may be null; then only positions are written. in_positions gives the positions that
// sort_tiles writes; if it is null, they are indices in the row.
//
// The order: NaN is greatest, and all NaNs are equal; -0 is below +0. Descending reverses the order. Equal elements keep the order of their
// positions in both directions.
#include "portable.hpp"

// Whether tiles are sorted by a sorting network in registers. On the host a shuffle costs as much as a barrier, so runs are merged in
// shared memory there.
#ifndef NETWORK
#define NETWORK !ON_HOST
#endif

namespace hipstack {

// Only the first `keep` elements of a sorted run are stored. In memory that a pass has written, run r of a row begins at r * min(keep,
// run), and rows are `in_row` and `out_row` elements apart.
struct SortMap {
    u64 rows, length; // of the rows to sort
    u64 run;          // elements of a run: of the output of sort_tiles, of the input of sort_merge
    u64 keep;
    u64 in_row, out_row;
    u32 descending;
    u32 shift; // log2 of run, for sort_tiles
};
SIZE(SortMap, 56) OFFSET(SortMap, run, 16) OFFSET(SortMap, in_row, 32) OFFSET(SortMap, descending, 48)

static constexpr u32 ITEMS = 8;
static constexpr u32 TILE = MAX_BLOCK * ITEMS;

typedef Dtype<T>::Rank Rank;

// The sort key: the rank, or its complement if descending.
DEVICE Rank key_of(T v, Rank turn) { return rank_of<false>(v) ^ turn; }
DEVICE Rank turn_of(const SortMap& m) { return m.descending != 0 ? (Rank)~(Rank)0 : (Rank)0; }
DEVICE u64 least_of(u64 a, u64 b) { return a < b ? a : b; }

// Sorted keys in shared memory, and sorted values in device memory.
struct SharedKeys {
    const Rank* at;
    METHOD Rank operator[](u32 i) const { return at[i]; }
};
struct StoredKeys {
    const T* at;
    Rank turn;
    METHOD Rank operator[](u64 i) const { return key_of(at[i], turn); }
};

// Merge path: how many of the first d elements of the merged sequence come from a. Ties are taken from a first.
template <class Keys, class I> DEVICE I split(Keys a, I a_count, Keys b, I b_count, I d) {
    I low = d > b_count ? d - b_count : 0, high = d < a_count ? d : a_count;
    while (low < high) {
        const I middle = low + (high - low) / 2;
        if (b[d - 1 - middle] < a[middle]) high = middle;
        else low = middle + 1;
    }
    return low;
}

DEVICE Rank* shared_keys() {
    __shared__ Rank keys[TILE];
    return keys;
}
DEVICE u16* shared_indices() {
    __shared__ u16 indices[TILE];
    return indices;
}

// ---- runs of a block -------------------------------------------------------------------------------------------------
// The location of element s of the block's tile: its row, its index in the run, and whether it exists. The tile is either one run, which
// begins at `start` of row `row`, or whole rows from `row` on.
struct Spot {
    u64 row;
    u32 at;
    bool exists;
};
DEVICE Spot spot_of(const SortMap& m, u64 row, u64 start, u32 s) {
    const u64 its_row = row + (s >> m.shift);
    const u32 at = s & ((u32)m.run - 1u);
    return Spot{its_row, at, its_row < m.rows && start + at < m.length};
}

#if NETWORK
// ---- sorting network -------------------------------------------------------------------------------------------------
// An element is one number: the key above its index in the run. All are distinct, so any network is stable.
template <class U, u32 BYTES> struct ItemOf {
    // The key as an unsigned number. Floats of at most 16 bits use their own bits, not those of f32.
    typedef u32 Word;
    static METHOD Word of(U v, bool turned, u32 index) {
        u32 key;
        if constexpr (Dtype<U>::FLOAT) {
            constexpr u32 SIGN = 1u << (BYTES * 8 - 1), ALL = 2 * SIGN - 1u;
            const u32 bits = v.bits;
            key = widen(v) != widen(v) ? ALL : (bits & SIGN) != 0 ? ~bits & ALL : bits | SIGN;
            key ^= turned ? ALL : 0u;
        } else {
            key = ((u32)v ^ (Dtype<U>::SIGNED ? 0x8000u : 0u)) & 0xffffu;
            key ^= turned ? 0xffffu : 0u;
        }
        return key << 16 | index;
    }
    static METHOD Word last(u32 index) { return 0xffff0000u | index; }
    static METHOD u32 index(Word w) { return w & 0xffffu; }
};
template <class U> struct ItemOf<U, 4> {
    typedef u64 Word;
    static METHOD Word of(U v, bool turned, u32 index) {
        const u32 key = (u32)rank_of<false>(v) ^ (Dtype<U>::SIGNED ? 0x80000000u : 0u) ^ (turned ? ~0u : 0u);
        return (u64)key << 32 | index;
    }
    static METHOD Word last(u32 index) { return ~0ull << 32 | index; }
    static METHOD u32 index(Word w) { return (u32)w; }
};
struct WideItem {
    i64 key;
    u32 at;
};
DEVICE bool operator<(const WideItem& a, const WideItem& b) { return a.key < b.key || (a.key == b.key && a.at < b.at); }
template <class U> struct ItemOf<U, 8> {
    typedef WideItem Word;
    static METHOD Word of(U v, bool turned, u32 index) { return Word{(i64)rank_of<false>(v) ^ (turned ? -1ll : 0ll), index}; }
    static METHOD Word last(u32 index) { return Word{greatest<i64>(), index}; }
    static METHOD u32 index(const Word& w) { return w.at; }
};
typedef ItemOf<T, sizeof(T)> Item;
typedef Item::Word Word;

DEVICE u32 other_lane(u32 v, u32 mask) { return shuffle_xor(v, mask); }
DEVICE u64 other_lane(u64 v, u32 mask) { return shuffle_xor(v, mask); }
DEVICE WideItem other_lane(const WideItem& v, u32 mask) { return WideItem{shuffle_xor(v.key, mask), shuffle_xor(v.at, mask)}; }

// AMD's compilers select between structs by address, which puts them into scratch memory.
DEVICE u32 either(bool first, u32 a, u32 b) { return first ? a : b; }
DEVICE u64 either(bool first, u64 a, u64 b) { return first ? a : b; }
DEVICE WideItem either(bool first, const WideItem& a, const WideItem& b) {
    return WideItem{first ? a.key : b.key, first ? a.at : b.at};
}
// Compare-exchange.
DEVICE void compare(Word& a, Word& b) {
    const bool swap = b < a;
    const Word low = either(swap, b, a), high = either(swap, a, b);
    a = low, b = high;
}
// Batcher's odd-even merge sort, 19 comparators.
static_assert(ITEMS == 8, "the networks of a thread are for eight items");
DEVICE void sort_items(Word (&v)[ITEMS]) {
    UNROLL
    for (u32 i = 0; i < 8; i += 2) compare(v[i], v[i + 1]);
    UNROLL
    for (u32 i = 0; i < 8; i += 4) compare(v[i], v[i + 2]), compare(v[i + 1], v[i + 3]), compare(v[i + 1], v[i + 2]);
    UNROLL
    for (u32 i = 0; i < 4; i++) compare(v[i], v[i + 4]);
    compare(v[2], v[4]), compare(v[3], v[5]);
    UNROLL
    for (u32 i = 1; i < 7; i += 2) compare(v[i], v[i + 1]);
}
// Sorts a bitonic sequence: the last stages of a bitonic merge.
DEVICE void merge_items(Word (&v)[ITEMS]) {
    UNROLL
    for (u32 distance = 4; distance > 0; distance /= 2) {
        UNROLL
        for (u32 i = 0; i < ITEMS; i++) {
            if ((i & distance) == 0) compare(v[i], v[i + distance]);
        }
    }
}

// Compare-exchange between each thread and the one whose number differs in the bits of mask. The thread whose bit `upper` is 0 keeps the
// lesser items. Item k meets item k, or with TURNED item ITEMS - 1 - k.
template <bool TURNED> DEVICE void exchange(Word (&v)[ITEMS], Word* shared, u32 mask, u32 upper) {
    const bool lesser = (threadIdx.x & upper) == 0;
    Word other[ITEMS];
    if (mask < 32u) {
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) other[k] = other_lane(v[TURNED ? ITEMS - 1 - k : k], mask);
    } else {
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) shared[k * blockDim.x + threadIdx.x] = v[k];
        __syncthreads();
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) other[k] = shared[(TURNED ? ITEMS - 1 - k : k) * blockDim.x + (threadIdx.x ^ mask)];
        __syncthreads();
    }
    UNROLL
    for (u32 k = 0; k < ITEMS; k++) v[k] = either((other[k] < v[k]) == lesser, other[k], v[k]);
}

// Sorts each `run` items of neighbouring threads. The second half of a merge is read backwards, so that all comparators have one direction.
DEVICE void sort_runs(Word (&v)[ITEMS], Word* shared, u32 run) {
    sort_items(v);
    for (u32 threads = 2; threads <= run / ITEMS; threads *= 2) {
        exchange<true>(v, shared, threads - 1, threads / 2);
        for (u32 distance = threads / 4; distance > 0; distance /= 2) exchange<false>(v, shared, distance, distance);
        merge_items(v);
    }
}

KERNEL(PASTE4(sort_, tiles, _, DTYPE), const T* in, const u32* in_positions, T* values, u32* positions, SortMap m) {
    __shared__ __align__(16) Word shared[TILE];
    u16* const indices = (u16*)shared;
    const bool turned = m.descending != 0;
    const u32 run = (u32)m.run, tile = blockDim.x * ITEMS, mine_at = threadIdx.x * ITEMS;
    const u32 group = run / ITEMS, first_at = threadIdx.x & (group - 1u); // threads of a run, and the thread's number among them
    const u64 runs_of_row = (m.length + run - 1) / run, runs = m.rows * runs_of_row, each = tile / run;
    const u64 step = least_of(m.keep, run);
    for (u64 first = blockIdx.x * each; first < runs; first += gridDim.x * each) {
        // Missing elements of a row get the greatest key and sort behind all others.
        const u64 row = runs_of_row == 1 ? first : first / runs_of_row, start = (first - row * runs_of_row) * run;
        const u64 my_row = row + (mine_at >> m.shift);
        const T* const from = in + my_row * m.in_row + start;
        const u64 left = my_row < m.rows ? m.length - start : 0;
        Word items[ITEMS];
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 at = k * group + first_at;
            items[k] = at < left ? Item::of(from[at], turned, at) : Item::last(at);
        }
        sort_runs(items, shared, run);
        Pack<u16, ITEMS> sorted;
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) sorted.at[k] = (u16)Item::index(items[k]);
        store_pack(indices + mine_at, sorted);
        __syncthreads();
        for (u32 s = threadIdx.x; s < tile; s += blockDim.x) {
            const Spot spot = spot_of(m, row, start, s);
            if (!spot.exists || spot.at >= step) continue;
            const u64 source = start + indices[s], to = spot.row * m.out_row + (start >> m.shift) * step + spot.at;
            if (values) values[to] = in[spot.row * m.in_row + source];
            positions[to] = in_positions ? in_positions[spot.row * m.in_row + source] : (u32)source;
        }
        __syncthreads();
    }
}
#else
// A thread's elements in registers.
struct Items {
    Rank key[ITEMS];
    u16 index[ITEMS];
};

// Odd-even transposition sort: ITEMS rounds sort, and equal elements are never swapped.
DEVICE void sort_items(Items& mine) {
    UNROLL
    for (u32 round = 0; round < ITEMS; round++) {
        UNROLL
        for (u32 i = round & 1u; i + 1 < ITEMS; i += 2) {
            const bool swap = mine.key[i + 1] < mine.key[i];
            const Rank low = swap ? mine.key[i + 1] : mine.key[i], high = swap ? mine.key[i] : mine.key[i + 1];
            const u16 first = swap ? mine.index[i + 1] : mine.index[i], second = swap ? mine.index[i] : mine.index[i + 1];
            mine.key[i] = low, mine.key[i + 1] = high;
            mine.index[i] = first, mine.index[i + 1] = second;
        }
    }
}

// The thread's ITEMS elements of the merge of two adjacent runs of `run` elements, from element d on.
DEVICE void merge_items(Items& mine, const Rank* keys, const u16* indices, u32 run, u32 d) {
    const Rank* const other = keys + run;
    u32 i = split(SharedKeys{keys}, run, SharedKeys{other}, run, d), j = d - i;
    UNROLL
    for (u32 k = 0; k < ITEMS; k++) {
        const bool first = j >= run || (i < run && !(other[j] < keys[i]));
        const u32 from = first ? i++ : run + j++;
        mine.key[k] = keys[from];
        mine.index[k] = indices[from];
    }
}

KERNEL(PASTE4(sort_, tiles, _, DTYPE), const T* in, const u32* in_positions, T* values, u32* positions, SortMap m) {
    Rank* const keys = shared_keys();
    u16* const indices = shared_indices();
    const Rank turn = turn_of(m);
    const u32 run = (u32)m.run, tile = blockDim.x * ITEMS, mine_at = threadIdx.x * ITEMS;
    const u64 runs_of_row = (m.length + run - 1) / run, runs = m.rows * runs_of_row, each = tile / run;
    const u64 step = least_of(m.keep, run);
    for (u64 first = blockIdx.x * each; first < runs; first += gridDim.x * each) {
        // Missing elements of a row get the greatest key and sort behind all others.
        const u64 row = runs_of_row == 1 ? first : first / runs_of_row, start = (first - row * runs_of_row) * run;
        for (u32 s = threadIdx.x; s < tile; s += blockDim.x) {
            const Spot spot = spot_of(m, row, start, s);
            keys[s] = spot.exists ? key_of(in[spot.row * m.in_row + start + spot.at], turn) : greatest<Rank>();
        }
        __syncthreads();
        Items mine;
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            mine.key[k] = keys[mine_at + k];
            mine.index[k] = (u16)((mine_at + k) & (run - 1u));
        }
        sort_items(mine);
        for (u32 sorted = ITEMS; sorted < run; sorted *= 2) {
            __syncthreads();
            UNROLL
            for (u32 k = 0; k < ITEMS; k++) {
                keys[mine_at + k] = mine.key[k];
                indices[mine_at + k] = mine.index[k];
            }
            __syncthreads();
            const u32 base = mine_at & ~(2 * sorted - 1u);
            merge_items(mine, keys + base, indices + base, sorted, mine_at - base);
        }
        __syncthreads();
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) indices[mine_at + k] = mine.index[k];
        __syncthreads();
        for (u32 s = threadIdx.x; s < tile; s += blockDim.x) {
            const Spot spot = spot_of(m, row, start, s);
            if (!spot.exists || spot.at >= step) continue;
            const u64 from = start + indices[s], to = spot.row * m.out_row + (start >> m.shift) * step + spot.at;
            if (values) values[to] = in[spot.row * m.in_row + from];
            positions[to] = in_positions ? in_positions[spot.row * m.in_row + from] : (u32)from;
        }
    }
}
#endif

// ---- pairs of runs ---------------------------------------------------------------------------------------------------
// Number of stored elements of run r.
DEVICE u64 stored(const SortMap& m, u64 r) {
    const u64 start = r * m.run;
    return start < m.length ? least_of(least_of(m.length - start, m.run), m.keep) : 0;
}

KERNEL(PASTE4(sort_, merge, _, DTYPE), const T* in, const u32* in_positions, T* values, u32* positions, SortMap m) {
    __shared__ u64 bounds[2];
    Rank* const keys = shared_keys();
    u16* const indices = shared_indices();
    const Rank turn = turn_of(m);
    const u32 tile = blockDim.x * ITEMS;
    const u64 in_step = least_of(m.keep, m.run), out_step = least_of(m.keep, 2 * m.run);
    const u64 pairs = (m.length + 2 * m.run - 1) / (2 * m.run), tiles = (out_step + tile - 1) / tile;
    for (u64 unit = blockIdx.x; unit < m.rows * pairs * tiles; unit += gridDim.x) {
        const u64 series = unit / tiles, row = series / pairs, pair = series - row * pairs;
        const u64 a_count = stored(m, 2 * pair), b_count = stored(m, 2 * pair + 1);
        const u64 total = least_of(a_count + b_count, m.keep), begin = (unit - series * tiles) * tile;
        if (begin >= total) continue;
        const u64 end = least_of(begin + tile, total);
        const u64 a_start = row * m.in_row + 2 * pair * in_step, b_start = a_start + in_step;
        // Two threads of different waves search for the bounds of the block's part.
        if (threadIdx.x == 0 || threadIdx.x == blockDim.x - 1) {
            const StoredKeys a = {in + a_start, turn}, b = {in + b_start, turn};
            bounds[threadIdx.x == 0 ? 0 : 1] = split(a, a_count, b, b_count, threadIdx.x == 0 ? begin : end);
        }
        __syncthreads();
        const u64 a_first = a_start + bounds[0], b_first = b_start + begin - bounds[0];
        const u32 count = (u32)(end - begin), from_a = (u32)(bounds[1] - bounds[0]), from_b = count - from_a;
        for (u32 s = threadIdx.x; s < count; s += blockDim.x)
            keys[s] = key_of(in[s < from_a ? a_first + s : b_first + (s - from_a)], turn);
        __syncthreads();
        const u32 mine_at = threadIdx.x * ITEMS < count ? threadIdx.x * ITEMS : count;
        const Rank* const other = keys + from_a;
        u32 i = split(SharedKeys{keys}, from_a, SharedKeys{other}, from_b, mine_at), j = mine_at - i;
        for (u32 k = mine_at; k < mine_at + ITEMS && k < count; k++) {
            const bool first = j >= from_b || (i < from_a && !(other[j] < keys[i]));
            indices[k] = (u16)(first ? i++ : from_a + j++);
        }
        __syncthreads();
        const u64 to = row * m.out_row + pair * out_step + begin;
        for (u32 s = threadIdx.x; s < count; s += blockDim.x) {
            const u32 index = indices[s];
            const u64 from = index < from_a ? a_first + index : b_first + (index - from_a);
            if (values) values[to + s] = in[from];
            positions[to + s] = in_positions[from];
        }
    }
}

} // namespace hipstack
