//! Sums by ids in the order of the ids: scatter_add of many ids, without atomics on the sums. Small floats are added up in f32.
//
// The destinations are cut into buckets of 2^shift neighbours, whose sums fit shared memory. Terms are dealt out to their buckets by
// 6 bits of a bucket's number at a time, the last ones first, and keep their order: of so few digits a tile has many terms each, which
// are written side by side. Then a block adds up a bucket, term by term where two meet. Nothing depends on when a thread runs.
//
// buckets_count: how many terms of each tile of TILE neighbours have each digit: counts[digit * tiles + tile]. Where `ids` is not null it
// writes the terms' keys, which are their destinations, else it reads them.
// buckets_deal: keys and terms to their places, by the running sums of the counts. Block 256.
// buckets_add: a block for each bucket, of keys in the order of their buckets. Block 256.
// Launch: one-dimensional, any grid. src/launch/buckets.rs says how many buckets there are, and how much shared memory the last takes.
//
// The three arrays are tight, of dims [outer, count or length, inner]. Places of dst are distinct, dst overlaps nothing. Only
// destinations from `first` on, `owned` of them, take part: a launch each for several such parts adds everything. An id that is
// out of range adds nothing and is written to *fault by buckets_count, as in index.hip; one launch reports, whose `first` is 0.
#include "portable.hpp"
#include "digits.hpp"

namespace hipstack {

struct IndexFault {
    u32 taken, operation, axis, reserved;
    i64 id;
    u64 length;
};
struct BucketMap {
    u64 terms;               // of all lines, below 2^32
    u64 count, length, inner; // ids of a line, elements of dst along the axis, lines side by side
    u64 first, owned;
    u64 tiles;
    u32 shift, digit; // log2 of a bucket's destinations; the key's bits below the digit
    u32 buckets, id_type, operation, axis;
};
SIZE(IndexFault, 32) OFFSET(IndexFault, id, 16)
SIZE(BucketMap, 80) OFFSET(BucketMap, tiles, 48) OFFSET(BucketMap, shift, 56)
static constexpr u32 ID_U8 = 0, ID_U32 = 1, ID_I32 = 2;

#define WITH_IDS(ids, type, f)                       \
    if (type == ID_U8) f((const u8*)ids);            \
    else if (type == ID_U32) f((const u32*)ids);     \
    else if (type == ID_I32) f((const i32*)ids);     \
    else f((const i64*)ids);

#if ON_HOST
#define ROLLED
#else
#define ROLLED _Pragma("unroll 1")
#endif

// Terms of a thread, in a tile and while they are counted; destinations of a bucket at most.
static constexpr u32 ITEMS = 8, TILE = MAX_BLOCK * ITEMS, COUNTED = ON_AMD ? 2 : 8;
static constexpr u32 DIGITS = 64, DIGIT_BITS = 6;
static_assert(DIGITS <= MAX_BLOCK, "a thread has a digit at most");
// The key of a term without destination: behind those of all buckets.
static constexpr u32 NONE = ~0u;
// What is added up.
typedef Dtype<T>::Compute Sum;

// A number that several threads write, all the same one.
DEVICE void write_alike(u32* to, u32 v) {
#if ON_NVIDIA
    *(volatile u32*)to = v;
#else
    __atomic_store_n(to, v, __ATOMIC_RELAXED);
#endif
}

DEVICE void report(IndexFault* fault, const BucketMap& m, i64 id) {
    if (atomicCAS(&fault->taken, 0u, 1u) != 0u) return;
    fault->operation = m.operation;
    fault->axis = m.axis;
    fault->id = id;
    fault->length = m.length;
}

// ---- where a term belongs ---------------------------------------------------------------------------------------------
// The destinations of N terms that lie `step` apart, counted from the first of this part; NONE behind `end`, for those of other
// parts and for wrong ids. `wrong` becomes a wrong id, if there is one.
template <u32 N, class I>
DEVICE bool read_ids(const I* ids, u64 first, u32 step, u64 end, u32 (&to)[N], const BucketMap& m, i64& wrong) {
    const u32 left = first < end ? (u32)(end - first) : 0, last = left > 0 ? left - 1 : 0;
    const I* const from = ids + (left > 0 ? first : end - 1);
    bool found = false;
    u64 id[N];
    // Loads do not ask whether there is an id: masks of so many comparisons are more than AMD's scalar registers hold.
    UNROLL
    for (u32 k = 0; k < N; k++) id[k] = (u64)from[k * step < last ? k * step : last];
    if (m.inner == 1 && m.count == m.terms) {
        UNROLL
        for (u32 k = 0; k < N; k++) {
            const bool is = k * step < left, bad = id[k] >= m.length;
            const u64 at = id[k] - m.first;
            to[k] = is && !bad && at < m.owned ? (u32)at : NONE;
            found = found || (is && bad);
            wrong = is && bad ? (i64)id[k] : wrong;
        }
    } else {
        UNROLL
        for (u32 k = 0; k < N; k++) {
            const bool is = k * step < left, bad = id[k] >= m.length;
            const u32 i = (u32)first + k * step, line = i / (u32)m.inner, outer = line / (u32)m.count;
            const u64 at = ((u64)outer * m.length + id[k]) * m.inner + (i - line * (u32)m.inner) - m.first;
            to[k] = is && !bad && at < m.owned ? (u32)at : NONE;
            found = found || (is && bad);
            wrong = is && bad ? (i64)id[k] : wrong;
        }
    }
    return found;
}
template <u32 N>
DEVICE bool destinations(const u8* ids, u64 first, u32 step, u64 end, u32 (&to)[N], const BucketMap& m, i64& wrong) {
    bool found = false;
#define READ(ids) found = read_ids<N>(ids, first, step, end, to, m, wrong)
    WITH_IDS(ids, m.id_type, READ)
#undef READ
    return found;
}

// ---- how many terms have a digit --------------------------------------------------------------------------------------
KERNEL(PASTE4(buckets_, count, _, DTYPE), const u8* ids, u32* keys, u32* counts, IndexFault* fault, BucketMap m) {
    __shared__ u32 found[DIGITS];
    for (u64 tile = blockIdx.x; tile < m.tiles; tile += gridDim.x) {
        if (threadIdx.x < DIGITS) found[threadIdx.x] = 0;
        __syncthreads();
        const u64 begin = tile * TILE, end = m.terms - begin < TILE ? m.terms : begin + TILE;
        if (ids) {
            ROLLED
            for (u64 at = begin + threadIdx.x; at < end; at += MAX_BLOCK * COUNTED) {
                u32 key[COUNTED];
                i64 wrong = 0;
                if (destinations(ids, at, MAX_BLOCK, end, key, m, wrong) && m.first == 0) report(fault, m, wrong);
                UNROLL
                for (u32 k = 0; k < COUNTED; k++) {
                    if (at + k * MAX_BLOCK >= end) break;
                    keys[at + k * MAX_BLOCK] = key[k];
                    atomicAdd(&found[key[k] >> m.digit & (DIGITS - 1u)], 1u);
                }
            }
        } else {
            const u32* const from = keys + begin;
            const u32 count = (u32)(end - begin);
            UNROLL
            for (u32 k = 0; k < ITEMS; k++) {
                const u32 i = k * MAX_BLOCK + threadIdx.x;
                if (i < count) atomicAdd(&found[from[i] >> m.digit & (DIGITS - 1u)], 1u);
            }
        }
        __syncthreads();
        if (threadIdx.x < DIGITS) counts[threadIdx.x * m.tiles + tile] = found[threadIdx.x];
    }
}

// ---- terms to their places --------------------------------------------------------------------------------------------
KERNEL(PASTE4(buckets_, deal, _, DTYPE), const u32* keys, const T* src, const u32* ends, u32* to_keys, T* to_values, BucketMap m) {
    // Keys and terms in the order of their digits.
    SHARED_ARRAY(0, u32, sorted, TILE);
    SHARED_ARRAY(1, T, values, TILE);
    // For each digit: how many terms each group has, which becomes where they begin in the tile; and what leads from there to all terms.
    SHARED_ARRAY(2, u16, held, GROUPS * DIGITS);
    __shared__ u32 moves[DIGITS];
    const u32 lane = threadIdx.x % LANES, group = threadIdx.x / LANES, mine_at = group * (LANES * ITEMS) + lane;
    u16* const mine = held + group * DIGITS;
    for (u64 tile = blockIdx.x; tile < m.tiles; tile += gridDim.x) {
        UNROLL
        for (u32 i = 0; i < GROUPS * DIGITS; i += MAX_BLOCK) held[i + threadIdx.x] = 0;
        __syncthreads();
        const u64 first = tile * TILE;
        const u32 count = m.terms - first < TILE ? (u32)(m.terms - first) : TILE;
        const u32* const from_keys = keys + first;
        const T* const from = src + first;
        u32 key[ITEMS], at[ITEMS];
        T value[ITEMS];
        // What the last tile lacks has the greatest key, and so lies behind all of the tile.
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 i = mine_at + k * LANES, there = i < count ? i : count - 1u;
            const u32 read = from_keys[there];
            key[k] = i < count ? read : NONE;
            value[k] = from[there];
        }
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 digit = key[k] >> m.digit & (DIGITS - 1u);
            const u32 same = alike<DIGIT_BITS>(digit), behind = same & ((1u << lane) - 1u);
            const u32 so_far = mine[digit];
            at[k] = so_far + (u32)__popc(behind);
            group_wait();
            if (behind == 0) mine[digit] = (u16)(so_far + (u32)__popc(same));
            group_wait();
        }
        __syncthreads();
        // Counts become places.
        u32 sum = 0;
        if (threadIdx.x < DIGITS) {
            UNROLL
            for (u32 g = 0; g < GROUPS; g++) {
                const u32 own = held[g * DIGITS + threadIdx.x];
                held[g * DIGITS + threadIdx.x] = (u16)sum;
                sum += own;
            }
        }
        const u32 begin = sum_before(sum);
        if (threadIdx.x < DIGITS) {
            UNROLL
            for (u32 g = 0; g < GROUPS; g++) held[g * DIGITS + threadIdx.x] = (u16)(held[g * DIGITS + threadIdx.x] + begin);
            const u64 number = threadIdx.x * m.tiles + tile;
            moves[threadIdx.x] = (number > 0 ? ends[number - 1] : 0) - begin;
        }
        __syncthreads();
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            at[k] += mine[key[k] >> m.digit & (DIGITS - 1u)];
            sorted[at[k]] = key[k];
            values[at[k]] = value[k];
        }
        __syncthreads();
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            const u32 i = k * MAX_BLOCK + threadIdx.x;
            if (i >= count) continue;
            const u32 to = i + moves[sorted[i] >> m.digit & (DIGITS - 1u)];
            to_keys[to] = sorted[i];
            to_values[to] = values[i];
        }
        __syncthreads();
    }
}

// ---- sums of a bucket -------------------------------------------------------------------------------------------------
template <class U> DEVICE typename Dtype<U>::Compute sum_of(typename Dtype<U>::Compute a, U b) {
    if constexpr (Dtype<U>::FLOAT) {
        return a + widen(b);
    } else {
        typedef typename Dtype<U>::Wrap W;
        return (U)((W)a + (W)b);
    }
}

// Terms that a thread has at a time, and how often a block lets one of each place go before one thread takes all that are left.
static constexpr u32 TOGETHER = 2, CHUNK = MAX_BLOCK * TOGETHER, CLAIMS = 2048, ROUNDS = 8;

// The first key of a bucket of that number or one behind it.
DEVICE u32 first_of(const u32* keys, u32 bucket, const BucketMap& m) {
    u32 low = 0, high = (u32)m.terms;
    while (low < high) {
        const u32 middle = low + (high - low) / 2;
        if (keys[middle] >> m.shift < bucket) low = middle + 1;
        else high = middle;
    }
    return low;
}

KERNEL(PASTE4(buckets_, add, _, DTYPE), T* dst, const u32* keys, const T* src, BucketMap m) {
    // Where the bucket begins and ends.
    __shared__ u32 bounds[2];
    // The least term that claims a place. Later rounds claim with lesser numbers, so that none need be wiped out.
    DYNAMIC_SHARED(u32, claims);
    Sum* const sums = (Sum*)(claims + CLAIMS);
    T* const values = (T*)claims;
    u16* const places = (u16*)(claims + CHUNK * sizeof(T) / 4);
    static_assert(CHUNK * (sizeof(T) + 2) <= CLAIMS * 4 && CHUNK * sizeof(T) % 4 == 0, "terms that are left fit the claims");
    // The last round that left terms.
    __shared__ u32 unfinished;
    if (threadIdx.x == 0) unfinished = NONE;
    for (u32 c = threadIdx.x; c < CLAIMS; c += MAX_BLOCK) claims[c] = NONE;
    u32 round = NONE / CHUNK - 1;
    for (u32 bucket = blockIdx.x; bucket < m.buckets; bucket += gridDim.x) {
        // Two threads of different waves look.
        if (threadIdx.x == 0 || threadIdx.x == MAX_BLOCK - 1u) bounds[threadIdx.x & 1u] = first_of(keys, bucket + (threadIdx.x & 1u), m);
        __syncthreads();
        const u32 begin = bounds[0], end = bounds[1], mask = (1u << m.shift) - 1u;
        __syncthreads();
        const u64 base = (u64)bucket << m.shift;
        const u32 owned = m.owned - base < (1u << m.shift) ? (u32)(m.owned - base) : 1u << m.shift;
        T* const to = dst + m.first + base;
        if (begin == end) continue;
        for (u32 d = threadIdx.x; d < owned; d += MAX_BLOCK) sums[d] = widen(to[d]);
        __syncthreads();
        for (u32 at = begin; at < end; at += CHUNK) {
            u32 place[TOGETHER];
            T value[TOGETHER];
            u32 left = 0;
            UNROLL
            for (u32 k = 0; k < TOGETHER; k++) {
                const u32 i = k * MAX_BLOCK + threadIdx.x;
                if (i < end - at) place[k] = keys[at + i] & mask, value[k] = src[at + i], left |= 1u << k;
            }
            bool all = false;
            for (u32 turn = 0; turn < ROUNDS; turn++, round--) {
                const u32 claim = round * CHUNK;
                UNROLL
                for (u32 k = 0; k < TOGETHER; k++) {
                    const u32 i = k * MAX_BLOCK + threadIdx.x;
                    if (left >> k & 1u) atomicMin(&claims[place[k] % CLAIMS], claim + i);
                }
                __syncthreads();
                UNROLL
                for (u32 k = 0; k < TOGETHER; k++) {
                    const u32 i = k * MAX_BLOCK + threadIdx.x;
                    if ((left >> k & 1u) == 0 || claims[place[k] % CLAIMS] != claim + i) continue;
                    sums[place[k]] = sum_of(sums[place[k]], value[k]);
                    left &= ~(1u << k);
                }
                if (left != 0) write_alike(&unfinished, round);
                __syncthreads();
                if (unfinished != round) {
                    all = true;
                    round--;
                    break;
                }
            }
            if (all && round > 2 * ROUNDS) continue;
            // Many of one place: the first of them takes all, one behind the other.
            u32 leads = 0;
            const u32 claim = round * CHUNK;
            UNROLL
            for (u32 k = 0; k < TOGETHER; k++) {
                if (left >> k & 1u) atomicMin(&claims[place[k] % CLAIMS], claim + k * MAX_BLOCK + threadIdx.x);
            }
            __syncthreads();
            UNROLL
            for (u32 k = 0; k < TOGETHER; k++) {
                if ((left >> k & 1u) && claims[place[k] % CLAIMS] == claim + k * MAX_BLOCK + threadIdx.x) leads |= 1u << k;
            }
            __syncthreads();
            UNROLL
            for (u32 k = 0; k < TOGETHER; k++) {
                const u32 i = k * MAX_BLOCK + threadIdx.x;
                const bool is_left = (left >> k & 1u) != 0;
                places[i] = is_left ? (u16)place[k] : (u16)0xffffu;
                if (is_left) values[i] = value[k];
            }
            __syncthreads();
            UNROLL
            for (u32 k = 0; k < TOGETHER; k++) {
                if ((leads >> k & 1u) == 0) continue;
                for (u32 p = place[k] % CLAIMS; p < owned; p += CLAIMS) {
                    Sum sum = sums[p];
                    for (u32 i = k * MAX_BLOCK + threadIdx.x; i < CHUNK; i++) {
                        if (places[i] == p) sum = sum_of(sum, values[i]);
                    }
                    sums[p] = sum;
                }
            }
            __syncthreads();
            if (threadIdx.x == 0) unfinished = NONE;
            for (u32 c = threadIdx.x; c < CLAIMS; c += MAX_BLOCK) claims[c] = NONE;
            round = NONE / CHUNK - 1;
            __syncthreads();
        }
        for (u32 d = threadIdx.x; d < owned; d += MAX_BLOCK) to[d] = narrow<T>(sums[d]);
        __syncthreads();
    }
}

} // namespace hipstack
