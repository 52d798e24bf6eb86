//! Sorting rows: pairs of a value and its position in the row, stable in both directions, rows of any length.
//
// sort_tiles: sorts each run of `run` neighbours of each row on its own (run is a power of two from ITEMS to TILE). A block
// takes as many runs as fit its threads, each of which has ITEMS elements; the block is a multiple of 64 and has at least
// run / ITEMS threads, and exactly as many where a row has several runs.
// sort_merge: merges each pair of sorted runs of a row into one. A block writes TILE elements at a time; block 256.
// Both stride over their grid, so any grid is right. src/launch/sort.rs says which passes sort a row.
//
// An output never overlaps an input. `values` may be null, then only positions are written.
//
// The order: NaN is above all, and all NaNs are equal; -0 is below +0. Descending turns the order round, and equal
// elements keep the order of their positions both ways.
#include "portable.hpp"

namespace hipstack {

// Only the first `keep` elements of a sorted run are stored. So run number r of a row begins at r * min(keep, run) in
// memory that a pass has written, and rows are `in_row` and `out_row` elements apart.
struct SortMap {
    u64 rows, length; // of the rows to sort
    u64 run;          // sort_tiles: elements of a run that it makes; sort_merge: of the runs that it reads
    u64 keep;
    u64 in_row, out_row;
    u32 descending;
    u32 shift; // log2 of run, for sort_tiles
};
SIZE(SortMap, 56) OFFSET(SortMap, run, 16) OFFSET(SortMap, in_row, 32) OFFSET(SortMap, descending, 48)

static constexpr u32 ITEMS = 8;
static constexpr u32 TILE = MAX_BLOCK * ITEMS;

typedef Dtype<T>::Rank Rank;

// What is compared: the rank, or its complement where the order is turned round.
DEVICE Rank key_of(T v, Rank turn) { return rank_of<false>(v) ^ turn; }
DEVICE Rank turn_of(const SortMap& m) { return m.descending != 0 ? (Rank)~(Rank)0 : (Rank)0; }
DEVICE u64 least_of(u64 a, u64 b) { return a < b ? a : b; }

// A sorted series of keys in shared memory, and one of values in device memory.
struct SharedKeys {
    const Rank* at;
    METHOD Rank operator[](u32 i) const { return at[i]; }
};
struct StoredKeys {
    const T* at;
    Rank turn;
    METHOD Rank operator[](u64 i) const { return key_of(at[i], turn); }
};

// How many of the first d elements of the merged series come from a. Of equal elements those of a come first.
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
DEVICE u16* shared_places() {
    __shared__ u16 places[TILE];
    return places;
}

// A thread's elements in registers.
struct Items {
    Rank key[ITEMS];
    u16 place[ITEMS];
};

// Neighbours change places only if they are out of order: ITEMS rounds sort, and equal elements never pass each other.
DEVICE void sort_items(Items& mine) {
    UNROLL
    for (u32 round = 0; round < ITEMS; round++) {
        UNROLL
        for (u32 i = round & 1u; i + 1 < ITEMS; i += 2) {
            const bool swap = mine.key[i + 1] < mine.key[i];
            const Rank low = swap ? mine.key[i + 1] : mine.key[i], high = swap ? mine.key[i] : mine.key[i + 1];
            const u16 first = swap ? mine.place[i + 1] : mine.place[i], second = swap ? mine.place[i] : mine.place[i + 1];
            mine.key[i] = low, mine.key[i + 1] = high;
            mine.place[i] = first, mine.place[i + 1] = second;
        }
    }
}

// The thread's ITEMS elements of the merged series of two runs of `run` elements, which lie one behind the other.
DEVICE void merge_items(Items& mine, const Rank* keys, const u16* places, u32 run, u32 d) {
    const Rank* const other = keys + run;
    u32 i = split(SharedKeys{keys}, run, SharedKeys{other}, run, d), j = d - i;
    UNROLL
    for (u32 k = 0; k < ITEMS; k++) {
        const bool first = j >= run || (i < run && !(other[j] < keys[i]));
        const u32 from = first ? i++ : run + j++;
        mine.key[k] = keys[from];
        mine.place[k] = places[from];
    }
}

// ---- runs of a block
// -------------------------------------------------------------------------------------------------- Where element s
// of the block's tile lies: its row, its place in the run, and whether the row has it. The tile is one run, which
// begins at `start` of row `row`, or whole rows from there on.
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

KERNEL(PASTE4(sort_, tiles, _, DTYPE), const T* in, T* values, u32* positions, SortMap m) {
    Rank* const keys = shared_keys();
    u16* const places = shared_places();
    const Rank turn = turn_of(m);
    const u32 run = (u32)m.run, tile = blockDim.x * ITEMS, mine_at = threadIdx.x * ITEMS;
    const u64 runs_of_row = (m.length + run - 1) / run, runs = m.rows * runs_of_row, each = tile / run;
    const u64 step = least_of(m.keep, run);
    for (u64 first = blockIdx.x * each; first < runs; first += gridDim.x * each) {
        // What a row lacks is filled up with the greatest key. It lies behind all equal ones, and stays there.
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
            mine.place[k] = (u16)((mine_at + k) & (run - 1u));
        }
        sort_items(mine);
        for (u32 sorted = ITEMS; sorted < run; sorted *= 2) {
            __syncthreads();
            UNROLL
            for (u32 k = 0; k < ITEMS; k++) {
                keys[mine_at + k] = mine.key[k];
                places[mine_at + k] = mine.place[k];
            }
            __syncthreads();
            const u32 base = mine_at & ~(2 * sorted - 1u);
            merge_items(mine, keys + base, places + base, sorted, mine_at - base);
        }
        __syncthreads();
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) places[mine_at + k] = mine.place[k];
        __syncthreads();
        for (u32 s = threadIdx.x; s < tile; s += blockDim.x) {
            const Spot spot = spot_of(m, row, start, s);
            if (!spot.exists || spot.at >= step) continue;
            const u64 from = start + places[s], to = spot.row * m.out_row + (start >> m.shift) * step + spot.at;
            if (values) values[to] = in[spot.row * m.in_row + from];
            positions[to] = (u32)from;
        }
    }
}

// ---- pairs of runs ----------------------------------------------------------------------------------------------------
// The elements of run number r that are stored.
DEVICE u64 stored(const SortMap& m, u64 r) {
    const u64 start = r * m.run;
    return start < m.length ? least_of(least_of(m.length - start, m.run), m.keep) : 0;
}

KERNEL(PASTE4(sort_, merge, _, DTYPE), const T* in, const u32* in_positions, T* values, u32* positions, SortMap m) {
    __shared__ u64 bounds[2];
    Rank* const keys = shared_keys();
    u16* const places = shared_places();
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
        // Two threads of different waves look where the block's part begins and ends.
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
            places[k] = (u16)(first ? i++ : from_a + j++);
        }
        __syncthreads();
        const u64 to = row * m.out_row + pair * out_step + begin;
        for (u32 s = threadIdx.x; s < count; s += blockDim.x) {
            const u32 place = places[s];
            const u64 from = place < from_a ? a_first + place : b_first + (place - from_a);
            if (values) values[to + s] = in[from];
            positions[to + s] = in_positions[from];
        }
    }
}

} // namespace hipstack
