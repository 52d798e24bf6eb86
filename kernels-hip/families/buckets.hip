//! scatter_add of many ids without atomics on the sums, deterministic in the order of the ids. Small floats are summed in f32.
//
// The destinations are split into buckets of 2^shift neighbours whose sums fit shared memory. First, each tile of TILE terms is stably
// partitioned by bucket; a tile's terms of one bucket form a run. Then a block sums up each bucket: it distributes the runs of all tiles,
// in order, to its threads. Each thread owns some destinations and adds their terms in order. There is no counting pass, and the result
// does not depend on scheduling.
//
// buckets_deal: writes the terms of each tile as words (destination within the bucket, value), partitioned by bucket, and the position of
// each bucket's run: runs[tile * BUCKETS + bucket]. The words of a tile begin at tile * TILE. Block 256.
// buckets_add: a block for each bucket. The runs of a bucket are contiguous: runs[bucket * tiles + tile]. Block 256.
// Launch: one-dimensional, any grid. src/launch/buckets.rs chooses the number of buckets and the size of dynamic shared memory.
//
// The three arrays are tight, of dims [outer, count or length, inner]. Elements of dst are distinct, and dst overlaps nothing. A launch
// handles `owned` destinations from `first` on; several launches cover more. An id out of range adds nothing, and buckets_deal writes it to
// *fault, as in index.hip; only the launch whose `first` is 0 reports.
#include "portable.hpp"
#include "digits.hpp"
#include "ids.hpp"

namespace hipstack {

struct BucketMap {
    u64 terms;               // in all lines, below 2^32
    u64 count, length, inner; // ids of a line, elements of dst along the axis, contiguous lines
    u64 first, owned;
    u64 tiles;
    u32 shift, buckets; // log2 of a bucket's destinations; number of buckets
    u32 id_type, operation, axis;
    u32 apart; // 1: the old values are in another array, and every element of dst is written
};
SIZE(BucketMap, 80) OFFSET(BucketMap, tiles, 48) OFFSET(BucketMap, shift, 56)

typedef Dtype<T>::Compute Sum;

// ---- words -----------------------------------------------------------------------------------------------------------
// A term: its destination within the bucket, and its value.
template <u32 BYTES> struct WordOf { typedef u32 Type; typedef u16 Bits; };
template <> struct WordOf<1> { typedef u32 Type; typedef u8 Bits; };
template <> struct WordOf<4> { typedef u64 Type; typedef u32 Bits; };
template <> struct WordOf<8> { typedef Pack<u64, 2> Type; typedef u64 Bits; };
typedef WordOf<sizeof(T)>::Type Word;
typedef WordOf<sizeof(T)>::Bits Bits;
static constexpr u32 VALUE_BITS = sizeof(Word) * 4;
template <class U> DEVICE U word_as(u32 destination, T value) {
    Bits bits;
    memcpy(&bits, &value, sizeof(T));
    if constexpr (sizeof(U) == 16) return U{{destination, bits}};
    else return (U)destination << VALUE_BITS | bits;
}
DEVICE Word word_of(u32 destination, T value) { return word_as<Word>(destination, value); }
template <class U> DEVICE u32 destination_of(const U& word) {
    if constexpr (sizeof(U) == 16) return (u32)word.at[0];
    else return (u32)(word >> VALUE_BITS);
}
template <class U> DEVICE T value_in(const U& word) {
    Bits bits;
    if constexpr (sizeof(U) == 16) bits = word.at[1];
    else bits = (Bits)word;
    T value;
    memcpy(&value, &bits, sizeof(T));
    return value;
}

// Terms of a thread, and of a tile, whose words take 32 KiB; greatest number of buckets.
static constexpr u32 ITEMS = 128 / sizeof(Word), TILE = MAX_BLOCK * ITEMS;
static constexpr u32 BUCKET_BITS = 11, BUCKETS = 1u << BUCKET_BITS;
// Ids that a thread loads at once.
static constexpr u32 TOGETHER = 8;
// Marks a term without a destination.
static constexpr u32 NONE = ~0u;

// ---- destinations of terms -------------------------------------------------------------------------------------------
// Reads the destinations of N terms that are `step` apart, relative to `first`. Terms beyond `end`, of other parts, or with an invalid id
// become NONE. Invalid ids are reported to *fault.
template <u32 N, class I>
DEVICE void read_ids(const I* ids, u64 first, u32 step, u64 end, u32 (&to)[N], IndexFault* fault, const BucketMap& m) {
    const u32 left = first < end ? (u32)(end - first) : 0, last = left > 0 ? left - 1 : 0;
    const I* const from = ids + (left > 0 ? first : end - 1);
    bool all = true;
    u64 id[N];
    // Loads are unconditional: lane masks for so many comparisons exceed AMD's scalar registers.
    UNROLL
    for (u32 k = 0; k < N; k++) id[k] = (u64)from[k * step < last ? k * step : last];
    if (m.inner == 1 && m.count == m.terms) {
        UNROLL
        for (u32 k = 0; k < N; k++) {
            const u64 at = id[k] - m.first;
            const bool is = k * step < left && at < m.owned;
            to[k] = is ? (u32)at : NONE;
            all = all && is;
        }
    } else {
        UNROLL
        for (u32 k = 0; k < N; k++) {
            const u32 i = (u32)first + k * step, line = i / (u32)m.inner, outer = line / (u32)m.count;
            const u64 at = ((u64)outer * m.length + id[k]) * m.inner + (i - line * (u32)m.inner) - m.first;
            const bool is = k * step < left && id[k] < m.length && at < m.owned;
            to[k] = is ? (u32)at : NONE;
            all = all && is;
        }
    }
    if (all || m.first != 0) return;
    ROLLED
    for (u32 i = 0; i < left && i < N * step; i += step) {
        if ((u64)from[i] >= m.length) report(fault, m, (i64)from[i]);
    }
}
template <u32 N>
DEVICE void destinations(const u8* ids, u64 first, u32 step, u64 end, u32 (&to)[N], IndexFault* fault, const BucketMap& m) {
#define READ(ids) read_ids<N>(ids, first, step, end, to, fault, m)
    WITH_IDS(ids, m.id_type, READ)
#undef READ
}

// ---- ranks -----------------------------------------------------------------------------------------------------------
// Ranks terms within their group. at[k] is a digit on entry; on return it has the digit in its upper half and the term's rank among the
// group's equal digits in its lower half. so_far[digit] counts earlier terms and is updated. A term without a destination has a digit of
// 2^BITS or more. From `steps` on, which is uniform in a group, all terms are such.
template <u32 BITS, u32 N> DEVICE void rank_terms(u32 (&at)[N], u16* so_far, u32 steps = N) {
    const u32 lane = threadIdx.x % LANES;
    UNROLL
    for (u32 k = 0; k < N; k++) {
        if (ON_HOST && k >= steps) { // barriers make a step slow there; elsewhere the check would cost a mask in registers
            at[k] <<= 16;
            continue;
        }
        const u32 digit = at[k], same = match_digit<BITS + 1>(digit), behind = same & ((1u << lane) - 1u);
        u16* const count = so_far + (digit & ((1u << BITS) - 1u));
        const u32 rank = *count + (u32)__popc(behind);
        at[k] = digit << 16 | rank;
        if constexpr (ON_NVIDIA) at[k] = opaque(at[k]);
        sync_wave();
        if (behind == 0 && (digit >> BITS & 1u) == 0) *count = (u16)(rank + (u32)__popc(same));
        sync_wave();
    }
}

// ---- terms in the order of their buckets -------------------------------------------------------------------------------
KERNEL_OF(256, sizeof(T) < 4 ? 2 : 3, PASTE4(buckets_, deal, _, DTYPE), const u8* ids, const T* src, Word* words, u32* runs, IndexFault* fault, BucketMap m) {
    // A group's count of terms for each bucket, later their start in the tile; then reused for the tile's words.
    typedef Pack<u64, 2> ScratchPack;
    static constexpr u32 SCRATCH_BYTES = GROUPS * BUCKETS * 2 < TILE * sizeof(Word) ? TILE * sizeof(Word) : GROUPS * BUCKETS * 2;
    SHARED_ARRAY(0, ScratchPack, scratch, SCRATCH_BYTES / sizeof(ScratchPack));
    u16* const held = (u16*)scratch;
    Word* const sorted = (Word*)scratch;
    static constexpr u32 PAIRS = BUCKETS / MAX_BLOCK / 2;
    const u32 lane = threadIdx.x % LANES, group = threadIdx.x / LANES, mine_at = group * (LANES * ITEMS) + lane;
    u16* const mine = held + group * BUCKETS;
    __shared__ u32 kept;
    for (u64 tile = blockIdx.x; tile < m.tiles; tile += gridDim.x) {
        const Pack<u16, 4> zeros = {{0, 0, 0, 0}};
        UNROLL
        for (u32 i = 0; i < GROUPS * BUCKETS / 4; i += MAX_BLOCK) store_pack(held + (i + threadIdx.x) * 4, zeros);
        __syncthreads();
        const u64 begin = tile * TILE, end = m.terms - begin < TILE ? m.terms : begin + TILE;
        // Words, and for each the bucket (upper half) and the rank (lower half).
        Word word[ITEMS];
        u32 at[ITEMS];
        UNROLL
        for (u32 first = 0; first < ITEMS; first += TOGETHER) {
            u32 to[TOGETHER];
            const u64 from = begin + mine_at + first * LANES;
            destinations(ids, from, LANES, end, to, fault, m);
            UNROLL
            for (u32 k = 0; k < TOGETHER; k++) {
                const u64 i = from + k * LANES;
                word[first + k] = word_of(to[k] & ((1u << m.shift) - 1u), src[i < end ? i : end - 1]);
                at[first + k] = to[k] >> m.shift;
            }
        }
        rank_terms<BUCKET_BITS>(at, mine);
        __syncthreads();
        // Prefix sums over groups and buckets. Two 16-bit counts share a word; their sums do not carry.
        u32* const counts = (u32*)held + threadIdx.x * PAIRS;
        Pack<u32, PAIRS> sums = {};
        FOUR_AT_ONCE
        for (u32 g = 0; g < GROUPS; g++) {
            const Pack<u32, PAIRS> own = load_pack<PAIRS>(counts + g * (BUCKETS / 2));
            UNROLL
            for (u32 p = 0; p < PAIRS; p++) sums.at[p] += own.at[p];
        }
        u32 all = 0;
        UNROLL
        for (u32 p = 0; p < PAIRS; p++) all += (sums.at[p] & 0xffffu) + (sums.at[p] >> 16);
        u32 start = exclusive_sum(all);
        if (threadIdx.x == MAX_BLOCK - 1u) kept = start + all;
        UNROLL
        for (u32 p = 0; p < PAIRS; p++) {
            const u32 one = sums.at[p] & 0xffffu, two = sums.at[p] >> 16;
            const Pack<u32, 2> of_two = {{start << 16 | one, (start + one) << 16 | two}};
            store_pack(runs + tile * BUCKETS + (threadIdx.x * PAIRS + p) * 2, of_two);
            sums.at[p] = start | (start + one) << 16;
            start += one + two;
        }
        FOUR_AT_ONCE
        for (u32 g = 0; g < GROUPS; g++) {
            const Pack<u32, PAIRS> own = load_pack<PAIRS>(counts + g * (BUCKETS / 2));
            store_pack(counts + g * (BUCKETS / 2), sums);
            UNROLL
            for (u32 p = 0; p < PAIRS; p++) sums.at[p] += own.at[p];
        }
        __syncthreads();
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) at[k] = (at[k] >> 16 & BUCKETS) != 0 ? NONE : (at[k] & 0xffffu) + mine[at[k] >> 16];
        __syncthreads();
        UNROLL
        for (u32 k = 0; k < ITEMS; k++) {
            if (at[k] != NONE) sorted[at[k]] = word[k];
        }
        __syncthreads();
        for (u32 i = threadIdx.x; i < kept; i += MAX_BLOCK) words[begin + i] = sorted[i];
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

// Conversion between elements and sums, by 16-byte accesses where aligned.
static constexpr u32 SPAN = ACCESS / sizeof(T), PART = ACCESS / sizeof(Sum);
DEVICE void read_sums(Sum* sums, const T* from, u32 count) {
    static constexpr u32 STEP = MAX_BLOCK * SPAN, AT_ONCE = 4;
    const u32 packed = is_aligned<T, SPAN>(from) ? count / SPAN * SPAN : 0;
    for (u32 first = threadIdx.x * SPAN; first < packed; first += STEP * AT_ONCE) {
        Pack<T, SPAN> pack[AT_ONCE];
        UNROLL
        for (u32 k = 0; k < AT_ONCE; k++) pack[k] = load_pack<SPAN>(from + (first + k * STEP < packed ? first + k * STEP : first));
        UNROLL
        for (u32 k = 0; k < AT_ONCE; k++) {
            if (first + k * STEP >= packed) break;
            UNROLL
            for (u32 part = 0; part < SPAN; part += PART) {
                Pack<Sum, PART> sum;
                UNROLL
                for (u32 e = 0; e < PART; e++) sum.at[e] = widen(pack[k].at[part + e]);
                store_pack(sums + first + k * STEP + part, sum);
            }
        }
    }
    for (u32 d = packed + threadIdx.x; d < count; d += MAX_BLOCK) sums[d] = widen(from[d]);
}
DEVICE void write_sums(T* to, const Sum* sums, u32 count) {
    const u32 packed = is_aligned<T, SPAN>(to) ? count / SPAN * SPAN : 0;
    for (u32 d = threadIdx.x * SPAN; d < packed; d += MAX_BLOCK * SPAN) {
        Pack<T, SPAN> pack;
        UNROLL
        for (u32 part = 0; part < SPAN; part += PART) {
            const Pack<Sum, PART> sum = load_pack<PART>(sums + d + part);
            UNROLL
            for (u32 e = 0; e < PART; e++) pack.at[part + e] = narrow<T>(sum.at[e]);
        }
        write_pack(to + d, pack);
    }
    for (u32 d = packed + threadIdx.x; d < count; d += MAX_BLOCK) to[d] = narrow<T>(sums[d]);
}

// EACH: runs that a thread reads at once. MANY_RUNS: those of a block. DEALT: terms of a thread in a round, so many that MANY_RUNS runs
// nearly fill a round if 2^24 terms go to as many destinations of 4 bytes or less. With small elements, blocks are small enough that four
// share an NVIDIA multiprocessor: 132 multiprocessors then process 2,048 buckets in four rounds instead of six. The host uses the same
// numbers.
static constexpr bool SMALL = sizeof(T) < 4;
static constexpr u32 EACH = SMALL ? 2 : 4, MANY_RUNS = EACH * MAX_BLOCK;
static constexpr u32 DEALT = SMALL ? 9 : sizeof(T) < 4 ? 17 : 72 / sizeof(Word), SLOTS = DEALT * MAX_BLOCK;
// A thread owns the destinations of a bucket with these low bits.
static constexpr u32 OWNER_BITS = 8;
static_assert(1u << OWNER_BITS == MAX_BLOCK, "each thread is an owner");

// Adds terms in order. The sum stays in a register while neighbours have the same destination, which is common.
DEVICE void add_terms(Sum* sums, const Word* terms, u32 count) {
    static constexpr u32 AHEAD = 8;
    u32 destination = destination_of(terms[0]);
    Sum sum = sums[destination];
    ROLLED
    for (u32 first = 0; first < count; first += AHEAD) {
        Word word[AHEAD];
        bool alike = first + AHEAD <= count;
        UNROLL
        for (u32 k = 0; k < AHEAD; k++) {
            word[k] = terms[first + k < count ? first + k : first];
            alike = alike && destination_of(word[k]) == destination;
        }
        if (alike) {
            UNROLL
            for (u32 k = 0; k < AHEAD; k++) sum = sum_of(sum, value_in(word[k]));
            continue;
        }
        UNROLL
        for (u32 k = 0; k < AHEAD; k++) {
            if (first + k >= count) break;
            const u32 to = destination_of(word[k]);
            if (to != destination) {
                sums[destination] = sum;
                destination = to;
                sum = sums[destination];
            }
            sum = sum_of(sum, value_in(word[k]));
        }
    }
    sums[destination] = sum;
}

// The destinations of a bucket.
struct Part {
    u64 first;
    u32 owned;
    METHOD Part(const BucketMap& m, u32 bucket) {
        const u64 base = (u64)bucket << m.shift;
        first = m.first + base;
        owned = m.owned - base < (1u << m.shift) ? (u32)(m.owned - base) : 1u << m.shift;
    }
};

KERNEL_OF(256, SMALL ? 4 : 3, PASTE4(buckets_, add, _, DTYPE), T* dst, const T* old, const Word* words, const u32* runs, BucketMap m) {
    DYNAMIC_SHARED(Sum, sums);
    static constexpr u32 SPANS = SLOTS / LANES;
    // Terms ordered by owner, and each group's count of terms for each owner, later their start.
    SHARED_ARRAY(0, Word, sorted, SLOTS);
    typedef Pack<u16, GROUPS> Counts;
    SHARED_ARRAY(1, Counts, counts, MAX_BLOCK);
    // For each nonempty run, the offset from a term's number to its word. For each 32 terms, the run of the first one, and a mask of those
    // that begin a run.
    SHARED_ARRAY(2, u32, word_offsets, MANY_RUNS);
    __shared__ u32 begins[SPANS], first_run[SPANS];
    __shared__ u32 all;
    const u32 lane = threadIdx.x % LANES, group = threadIdx.x / LANES;
    u16 *const held = (u16*)counts, *const mine = held + group * MAX_BLOCK;
    for (u32 i = threadIdx.x; i < SPANS; i += MAX_BLOCK) begins[i] = 0;
    for (u32 bucket = blockIdx.x; bucket < m.buckets; bucket += gridDim.x) {
        const Part part(m, bucket);
        const T* const from = (m.apart != 0 ? old : dst) + part.first;
        const u64 tiles = m.tiles;
        const u32* const of_bucket = runs + bucket * tiles;
        // The thread's runs are contiguous and are prefetched.
        u32 ahead[EACH];
        auto read_runs = [&](u64 tile) {
            UNROLL
            for (u32 e = 0; e < EACH; e++) {
                const u64 t = tile + threadIdx.x * EACH + e;
                ahead[e] = t < tiles ? of_bucket[t] : 0;
            }
        };
        read_runs(0);
        __syncthreads();
        read_sums(sums, from, part.owned);
        bool any = m.apart != 0;
        for (u64 tile = 0; tile < tiles; tile += MANY_RUNS) {
            u32 run[EACH], length = 0, filled = 0;
            UNROLL
            for (u32 e = 0; e < EACH; e++) {
                run[e] = ahead[e];
                length += run[e] & 0xffffu;
                filled += (run[e] & 0xffffu) != 0 ? 1u : 0;
            }
            read_runs(tile + MANY_RUNS);
            const u32 start = exclusive_sum(length);
            __syncthreads();
            const u32 number = exclusive_sum(filled);
            {
                u32 at = start, n = number;
                UNROLL
                for (u32 e = 0; e < EACH; e++) {
                    const u32 own = run[e] & 0xffffu;
                    if (own != 0) word_offsets[n] = ((u32)tile + threadIdx.x * EACH + e) * TILE + (run[e] >> 16) - at;
                    at += own;
                    n += own != 0 ? 1u : 0;
                    run[e] = own;
                }
                if (threadIdx.x == MAX_BLOCK - 1u) all = at;
            }
            __syncthreads();
            const u32 total = all;
            any = any || total > 0;
            ROLLED
            for (u32 done = 0; done < total; done += SLOTS) {
                // Mark where runs begin in this round.
                if (start < done + SLOTS && start + length > done) {
                    u32 at = start, n = number;
                    UNROLL
                    for (u32 e = 0; e < EACH; e++) {
                        const u32 end = at + run[e];
                        if (run[e] != 0 && at < done + SLOTS && end > done) {
                            const u32 low = at > done ? at - done : 0;
                            if (at >= done) atomicOr(&begins[low / LANES], 1u << low % LANES);
                            for (u32 span = (low + LANES - 1u) / LANES; span * LANES < end - done && span < SPANS; span++) first_run[span] = n;
                        }
                        n += run[e] != 0 ? 1u : 0;
                        at = end;
                    }
                }
                counts[threadIdx.x] = Counts{};
                __syncthreads();
                Word word[DEALT];
                u32 at[DEALT];
                UNROLL
                for (u32 k = 0; k < DEALT; k++) {
                    const u32 span = group * DEALT + k, term = done + span * LANES + lane;
                    at[k] = MAX_BLOCK;
                    if (term < total) {
                        word[k] = words[word_offsets[first_run[span] + (u32)__popc(begins[span] & ((2u << lane) - 2u))] + term];
                        at[k] = destination_of(word[k]) % MAX_BLOCK;
                    }
                }
                const u32 first = done + group * DEALT * LANES, left = total > first ? total - first : 0;
                rank_terms<OWNER_BITS>(at, mine, (left + LANES - 1u) / LANES);
                __syncthreads();
                for (u32 i = threadIdx.x; i < SPANS; i += MAX_BLOCK) begins[i] = 0;
                // Prefix sums over groups and owners.
                u32 own = 0;
                UNROLL
                for (u32 g = 0; g < GROUPS; g++) own += held[g * MAX_BLOCK + threadIdx.x];
                const u32 from = exclusive_sum(own);
                u32 next = from;
                UNROLL
                for (u32 g = 0; g < GROUPS; g++) {
                    u16* const count = held + g * MAX_BLOCK + threadIdx.x;
                    const u32 before = next;
                    next += *count;
                    *count = (u16)before;
                }
                __syncthreads();
                UNROLL
                for (u32 k = 0; k < DEALT; k++) {
                    if (at[k] >> 16 < MAX_BLOCK) sorted[(at[k] & 0xffffu) + mine[at[k] >> 16]] = word[k];
                }
                __syncthreads();
                if (own != 0) add_terms(sums, sorted + from, own);
            }
        }
        if (!any) continue;
        __syncthreads();
        const Part done(m, bucket);
        write_sums(dst + done.first, sums, done.owned);
    }
}

} // namespace hipstack
