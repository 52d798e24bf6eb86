//! LSD radix sort of long rows: pairs of a key and its position in the row, stable in both directions.
//
// A pass stably partitions a row by 8 bits of the keys; there are as many passes as a key has bytes. The order is that of sort.hip.
//
// radix_count: the histogram of each tile of TILE neighbours: counts[(row * 256 + digit) * tiles + tile].
// radix_deal: moves elements to their positions, given the inclusive prefix sums of each row's counts. Block 256.
// Both have a grid-stride loop, so any grid is right. src/launch/radix.rs says when a row is sorted this way.
//
// The first pass (shift 0) reads `in`; the others read keys and positions of the previous pass. The last pass writes no keys, and writes
// values unless they are null. An output never overlaps an input.
#include "portable.hpp"
#include "digits.hpp"

namespace hipstack {

struct RadixMap {
    u64 rows, length; // of a row, below 2^32
    u64 tiles;        // of a row
    u32 shift;        // bits below the digit
    u32 descending;
};
SIZE(RadixMap, 32) OFFSET(RadixMap, tiles, 16) OFFSET(RadixMap, shift, 24)

static constexpr u32 ITEMS = 8, TILE = MAX_BLOCK * ITEMS, DIGITS = 256, DIGIT_BITS = 8;
static_assert(DIGITS == MAX_BLOCK, "each thread has a digit");

// A key is an unsigned number of the element's size, in the order of the sort.
template <u32 BYTES> struct KeyOf { typedef u32 Type; };
template <> struct KeyOf<1> { typedef u8 Type; };
template <> struct KeyOf<2> { typedef u16 Type; };
typedef KeyOf<sizeof(T)>::Type Key;
static constexpr u32 KEY_BITS = sizeof(T) * 8, ALL = ~0u >> (32 - KEY_BITS);
template <class U> DEVICE u32 key_of(U v, bool turned) {
    u32 key;
    if constexpr (Dtype<U>::FLOAT && sizeof(U) < 4) {
        // Keys of small floats are made from their own bits, not from those of f32.
        const u32 sign = 1u << (KEY_BITS - 1), bits = v.bits;
        key = widen(v) != widen(v) ? ALL : (bits & sign) != 0 ? ~bits & ALL : bits | sign;
    } else {
        key = (u32)rank_of<false>(v) ^ (Dtype<U>::SIGNED ? 1u << (KEY_BITS - 1) : 0u);
    }
    return (turned ? ~key : key) & ALL;
}

// A tile: its row, its number, the index of its first element in memory and in the row, and its number of elements.
struct Tile {
    u64 row, number, first;
    u32 start, count;
};
DEVICE Tile tile_of(const RadixMap& m, u64 unit) {
    const u64 row = unit / m.tiles, number = unit - row * m.tiles, start = number * TILE, left = m.length - start;
    return Tile{row, number, row * m.length + start, (u32)start, left < TILE ? (u32)left : TILE};
}
// Reads the keys of elements of the tile that are STEP apart, from `first` on. Missing elements of a row's last tile get the greatest key,
// which sorts them behind all others.
template <u32 STEP> DEVICE void read_keys(u32 (&key)[ITEMS], const T* in, const Key* keys, const Tile& tile, u32 first, const RadixMap& m) {
    const T* const elements = in + tile.first + first;
    const Key* const words = keys + tile.first + first;
    if (tile.count == TILE && m.shift == 0) {
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) key[k] = key_of(elements[k * STEP], m.descending != 0);
    } else if (tile.count == TILE) {
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) key[k] = words[k * STEP];
    } else {
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 at = first + k * STEP, from = at < tile.count ? at : tile.count - 1u;
            const u32 read = m.shift == 0 ? key_of(in[tile.first + from], m.descending != 0) : (u32)keys[tile.first + from];
            key[k] = at < tile.count ? read : ALL;
        }
    }
}

// ---- how many elements have a digit -----------------------------------------------------------------------------------
KERNEL(PASTE4(radix_, count, _, DTYPE), const T* in, const Key* keys, u32* counts, RadixMap m) {
    __shared__ u32 found[DIGITS];
    for (u64 unit = blockIdx.x; unit < m.rows * m.tiles; unit += gridDim.x) {
        const Tile tile = tile_of(m, unit);
        found[threadIdx.x] = 0;
        __syncthreads();
        u32 key[ITEMS];
        read_keys<MAX_BLOCK>(key, in, keys, tile, threadIdx.x, m);
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) atomicAdd(&found[key[k] >> m.shift & (DIGITS - 1u)], 1u);
        __syncthreads();
        const u32 lacking = threadIdx.x == DIGITS - 1u ? TILE - tile.count : 0;
        counts[(tile.row * DIGITS + threadIdx.x) * m.tiles + tile.number] = found[threadIdx.x] - lacking;
    }
}

// ---- elements to their positions --------------------------------------------------------------------------------------
KERNEL(PASTE4(radix_, deal, _, DTYPE), const T* in, const Key* keys, const u32* positions, const u32* ends, Key* to_keys, u32* to_positions,
       T* values, RadixMap m) {
    // Keys and positions ordered by digit.
    SHARED_ARRAY(1, Key, sorted, TILE);
    SHARED_ARRAY(0, u32, sorted_positions, TILE);
    // For each digit: each group's count, later its start in the tile; and the offset from a position in the tile to one in the row.
    SHARED_ARRAY(2, u16, held, GROUPS * DIGITS);
    __shared__ u32 moves[DIGITS];
    const u32 lane = threadIdx.x % LANES, group = threadIdx.x / LANES, mine_at = group * (LANES * ITEMS) + lane;
    u16* const mine = held + group * DIGITS;
    for (u64 unit = blockIdx.x; unit < m.rows * m.tiles; unit += gridDim.x) {
        const Tile tile = tile_of(m, unit);
        UNROLL
        for (u32 g = 0; g < GROUPS; g++) held[g * DIGITS + threadIdx.x] = 0;
        __syncthreads();
        u32 key[ITEMS];
        u32 at[ITEMS];
        read_keys<LANES>(key, in, keys, tile, mine_at, m);
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 digit = key[k] >> m.shift & (DIGITS - 1u);
            const u32 same = match_digit<DIGIT_BITS>(digit), behind = same & ((1u << lane) - 1u);
            const u32 so_far = mine[digit];
            at[k] = so_far + (u32)__popc(behind);
            sync_wave();
            if (behind == 0) mine[digit] = (u16)(so_far + (u32)__popc(same));
            sync_wave();
        }
        __syncthreads();
        // Prefix sums over groups and digits.
        u32 sum = 0;
        UNROLL
        for (u32 g = 0; g < GROUPS; g++) {
            const u32 own = held[g * DIGITS + threadIdx.x];
            held[g * DIGITS + threadIdx.x] = (u16)sum;
            sum += own;
        }
        const u32 begin = exclusive_sum(sum);
        UNROLL
        for (u32 g = 0; g < GROUPS; g++) held[g * DIGITS + threadIdx.x] = (u16)(held[g * DIGITS + threadIdx.x] + begin);
        const u64 number = threadIdx.x * m.tiles + tile.number;
        moves[threadIdx.x] = (number > 0 ? ends[tile.row * DIGITS * m.tiles + number - 1] : 0) - begin;
        __syncthreads();
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            at[k] += mine[key[k] >> m.shift & (DIGITS - 1u)];
            sorted[at[k]] = (Key)key[k];
        }
        if (m.shift == 0) {
            UNROLL
            for (u32 k = 0; k < ITEMS; k++) sorted_positions[at[k]] = tile.start + mine_at + k * LANES;
        } else {
            const u32* const from = positions + tile.first;
            UNROLL
            for (u32 k = 0; k < ITEMS; k++) {
                const u32 i = mine_at + k * LANES;
                sorted_positions[at[k]] = from[i < tile.count ? i : tile.count - 1u];
            }
        }
        __syncthreads();
        Key* const keys_of_row = to_keys + tile.row * m.length;
        u32* const positions_of_row = to_positions + tile.row * m.length;
        const T* const row = in + tile.row * m.length;
        T* const values_of_row = values + tile.row * m.length;
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 i = k * MAX_BLOCK + threadIdx.x;
            if (i >= tile.count) continue;
            const u32 key = sorted[i], position = sorted_positions[i], to = i + moves[key >> m.shift & (DIGITS - 1u)];
            if (to_keys) keys_of_row[to] = (Key)key;
            positions_of_row[to] = position;
            if (values) values_of_row[to] = row[position];
        }
        __syncthreads();
    }
}

} // namespace hipstack
