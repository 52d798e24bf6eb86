//! Attention of few query rows, as in decoding, for d <= ROW_DEPTH. Included by attention.hip alone.
//
// attention_few: a block takes up to FEW_ROWS rows of q whose heads share a head of k and v, and up to CHUNK of the keys: it reads k and v once
// for these rows. If a head's keys are in one chunk, it writes the output; else the sums of its chunk, which attention_join adds up.
// attention_paged: the same for one query of each batch, whose keys and values are in pages of memory that all batches share.
#pragma once
#include "attention.hpp"
#include "ids.hpp"
#include "round_groups.hpp"

namespace hipstack {

// Parts, if splits > 1: for each row of the output and each chunk dv sums of weighted values; behind these for each row and chunk the maximum
// score and the sum of the weights.
struct FewArgs {
    AttentionArgs of;
    u32 chunk, splits; // keys of a block; blocks for the keys of a head
};
SIZE(FewArgs, 208) OFFSET(FewArgs, chunk, 200)
// Key i of a batch is row i % 2^shift of page table[i / 2^shift]: row id * 2^shift + i % 2^shift of k and v, which have no batches. A query at
// position p sees the keys from p - window + 1 to p that the table has. All entries of a chunk are loaded; only those with a seen key
// are checked and used.
struct PagedArgs {
    FewArgs few;              // keys: those that the table has; no mask, not causal
    u64 table[2], positions;  // strides
    u64 length;               // pages of k and v
    u64 window;
    u32 shift, operation, axis, reserved; // operation, axis: of a wrong id
};
SIZE(PagedArgs, 264) OFFSET(PagedArgs, length, 232) OFFSET(PagedArgs, shift, 248)

static constexpr u32 FEW_BLOCK = 256;
static constexpr u32 ROW_DEPTH = 512;            // greatest d
static constexpr u32 FEW_ROWS = 32 / sizeof(C);
static constexpr u32 CHUNK = 256;
static constexpr u32 WIDE = ACCESS / (sizeof(T) > 2 ? sizeof(T) : 2); // elements of an access
// Lanes that compute a score together, and keys of such lanes in flight. A thread of the host computes scores alone.
static constexpr u32 TOGETHER = ON_HOST || sizeof(C) == 8 ? 1 : 8;
static constexpr u32 KEYS_AT_ONCE = 2;
// Packs of a key, and keys of v, whose loads are under way at once.
static constexpr u32 PACKS_AT_ONCE = ON_HOST ? 1 : 2, VALUES_AT_ONCE = ON_HOST ? 1 : 4;
static constexpr u32 ROW_THREADS = FEW_BLOCK / FEW_ROWS; // threads that take the maximum and the sum of a row

// The indices of a row: of its query and its output, and the offset of its mask for key 0.
struct RowIndices {
    u64 query, output, mask;
};
struct alignas(16) Few {
    C q[FEW_ROWS * ROW_DEPTH];
    C weights[FEW_ROWS * CHUNK];
    C part[FEW_BLOCK * WIDE];
    RowIndices rows[FEW_ROWS];
    u32 pages[CHUNK + 1];
};
struct alignas(16) Join {
    C scales[FEW_BLOCK], part[FEW_BLOCK];
};
static_assert(sizeof(Few) <= 48 * 1024, "shared memory that every device has");

// Keys of a batch that lie one behind the other: key i is row i behind `from`.
struct Consecutive {
    u64 first; // index of key 0
    u32 count;
    METHOD u64 from(const u64* strides, u64 batch) const { return batch * strides[0] + first * strides[2]; }
    METHOD u64 row(u32 key) const { return key; }
};
struct InOrder {
    METHOD void stage(Few&, u64, u32) const {}
    METHOD Consecutive chunk(const Few&, const FewArgs& args, u64, u32 split) const {
        const u64 first = (u64)split * args.chunk, all = args.of.keys;
        return Consecutive{first, first < all ? (u32)least_of(args.chunk, all - first) : 0};
    }
};

// Keys in pages: `offset` is the distance of key 0 from the first row of the first page.
struct InPages {
    u64 first;
    u32 count, offset, shift;
    const u32* pages;
    METHOD u64 from(const u64*, u64) const { return 0; }
    METHOD u64 row(u32 key) const {
        const u32 at = offset + key;
        return (u64)pages[at >> shift] << shift | (at & ((1u << shift) - 1));
    }
};
struct ByTable {
    const u32 *table, *positions;
    IndexFault* fault;
    const PagedArgs& args;
    // Puts the pages of a chunk's keys into shared memory, seen or not: this does not wait for the position.
    METHOD void stage(Few& shared, u64 batch, u32 split) const {
        const u64 begin = (u64)split * args.few.chunk, end = least_of(begin + args.few.chunk, args.few.of.keys);
        for (u64 page = (begin >> args.shift) + threadIdx.x; page << args.shift < end; page += FEW_BLOCK)
            shared.pages[page - (begin >> args.shift)] = table[batch * args.table[0] + page * args.table[1]];
    }
    // The seen keys of a chunk; none if one of their pages is wrong.
    METHOD InPages chunk(const Few& shared, const FewArgs&, u64 batch, u32 split) const {
        const u64 seen = (u64)positions[batch * args.positions] + 1, least = seen > args.window ? seen - args.window : 0;
        const u64 begin = (u64)split * args.few.chunk, first = begin > least ? begin : least;
        const u64 end = least_of(least_of(begin + args.few.chunk, args.few.of.keys), seen);
        InPages keys{first, 0, (u32)(first - (begin >> args.shift << args.shift)), args.shift, shared.pages};
        if (first >= end) return keys;
        keys.count = (u32)(end - first);
        for (u32 p = keys.offset >> args.shift; p <= (keys.offset + keys.count - 1) >> args.shift; p++) {
            if (shared.pages[p] < args.length) continue;
            if (threadIdx.x == 0) report(fault, args, shared.pages[p]);
            return InPages{first, 0, 0, args.shift, shared.pages};
        }
        return keys;
    }
};

// The score of a key, given the product of q and k.
DEVICE C few_score(C product, const u8* mask, const AttentionArgs& a, const RowIndices& row, u64 key) {
    const C score = product * (C)a.scale;
    if (a.causal != 0 && key > row.query) return minus_infinity();
    if (a.mask_kind == 0) return score;
    const u64 offset = row.mask + key * a.strides.mask[3];
    if (a.mask_kind == 1) return mask[offset] != 0 ? score : minus_infinity();
    return score + widen(reinterpret_cast<const T*>(mask)[offset]);
}

// Adds the products of q with N packs of each key: from element p on, and every TOGETHER-th.
template <u32 N>
DEVICE void add_products(const Few& shared, const T* const (&at)[KEYS_AT_ONCE], u32 p, u32 rows, C (&sum)[KEYS_AT_ONCE][FEW_ROWS]) {
    Pack<T, WIDE> x[N][KEYS_AT_ONCE];
    UNROLL
    for (u32 n = 0; n < N; n++) {
        UNROLL
        for (u32 k = 0; k < KEYS_AT_ONCE; k++) x[n][k] = load_pack<WIDE>(at[k] + p + n * TOGETHER * WIDE);
    }
    UNROLL
    for (u32 r = 0; r < FEW_ROWS; r++) {
        if (r >= rows) break;
        UNROLL
        for (u32 n = 0; n < N; n++) {
            UNROLL
            for (u32 j = 0; j < WIDE; j++) {
                const C q = shared.q[r * ROW_DEPTH + p + n * TOGETHER * WIDE + j];
                UNROLL
                for (u32 k = 0; k < KEYS_AT_ONCE; k++) sum[k][r] = multiply_add(q, widen(x[n][k].at[j]), sum[k][r]);
            }
        }
    }
}

// The products of q with all keys, into weights[row][key].
template <class Keys> DEVICE void few_products(Few& shared, const T* keys_of_k, const Keys& where, const AttentionArgs& a, u32 rows) {
    constexpr u32 turn = FEW_BLOCK / TOGETHER;
    const u32 lane = threadIdx.x % TOGETHER, d = (u32)a.d, keys = where.count;
    const u64 step = a.strides.k[2], column = a.strides.k[3];
    const bool packs = column == 1 && step % WIDE == 0 && is_aligned<T, WIDE>(keys_of_k);
    const u32 whole = packs ? d / WIDE * WIDE : 0;
    // All lanes take as many turns.
    for (u32 begin = 0; begin < keys; begin += turn * KEYS_AT_ONCE) {
        u32 key[KEYS_AT_ONCE];
        const T* at[KEYS_AT_ONCE];
        C sum[KEYS_AT_ONCE][FEW_ROWS] = {};
        UNROLL
        for (u32 k = 0; k < KEYS_AT_ONCE; k++) {
            key[k] = begin + k * turn + threadIdx.x / TOGETHER;
            at[k] = keys_of_k + where.row(key[k] < keys ? key[k] : keys - 1) * step;
        }
        u32 p = lane * WIDE;
        for (; p + (PACKS_AT_ONCE - 1) * TOGETHER * WIDE < whole; p += PACKS_AT_ONCE * TOGETHER * WIDE) add_products<PACKS_AT_ONCE>(shared, at, p, rows, sum);
        for (; p < whole; p += TOGETHER * WIDE) add_products<1>(shared, at, p, rows, sum);
        for (u32 p = whole + lane; p < d; p += TOGETHER) {
            UNROLL
            for (u32 k = 0; k < KEYS_AT_ONCE; k++) {
                const C x = widen(at[k][p * column]);
                UNROLL
                for (u32 r = 0; r < FEW_ROWS; r++)
                    if (r < rows) sum[k][r] = multiply_add(shared.q[r * ROW_DEPTH + p], x, sum[k][r]);
            }
        }
        UNROLL
        for (u32 k = 0; k < KEYS_AT_ONCE; k++) {
            UNROLL
            for (u32 r = 0; r < FEW_ROWS; r++) {
                if constexpr (TOGETHER > 1) {
                    UNROLL
                    for (u32 other = TOGETHER / 2; other > 0; other >>= 1) sum[k][r] += shuffle_xor(sum[k][r], other);
                }
                if (r % TOGETHER == lane && r < rows && key[k] < keys) shared.weights[r * CHUNK + key[k]] = sum[k][r];
            }
        }
    }
}

// Adds WIDE values of a key, weighted for each row.
DEVICE void add_values(const C* weights, const C (&x)[WIDE], u32 rows, C (&o)[FEW_ROWS][WIDE]) {
    UNROLL
    for (u32 r = 0; r < FEW_ROWS; r++) {
        if (r >= rows) break;
        UNROLL
        for (u32 j = 0; j < WIDE; j++) o[r][j] = multiply_add(weights[r * CHUNK], x[j], o[r][j]);
    }
}

// Adds the products of the thread's keys and columns of v: every turns-th key, and WIDE columns from `column` on.
template <class Keys>
DEVICE void few_values(const C* weights, const T* values, const Keys& where, u32 turn, u32 turns, u32 columns, const u64* strides, u32 rows,
                       C (&o)[FEW_ROWS][WIDE]) {
    const u32 keys = where.count;
    const u64 step = strides[2], side = strides[3];
    const bool packs = side == 1 && step % WIDE == 0 && columns == WIDE && is_aligned<T, WIDE>(values);
    u32 key = turn;
    // Several loads are under way: each takes longer than all the arithmetic behind it.
    for (; packs && key + (VALUES_AT_ONCE - 1) * turns < keys; key += VALUES_AT_ONCE * turns) {
        Pack<T, WIDE> raw[VALUES_AT_ONCE];
        UNROLL
        for (u32 k = 0; k < VALUES_AT_ONCE; k++) raw[k] = load_pack<WIDE>(values + where.row(key + k * turns) * step);
        UNROLL
        for (u32 k = 0; k < VALUES_AT_ONCE; k++) {
            C x[WIDE];
            UNROLL
            for (u32 j = 0; j < WIDE; j++) x[j] = widen(raw[k].at[j]);
            add_values(weights + key + k * turns, x, rows, o);
        }
    }
    for (; key < keys; key += turns) {
        const T* const from = values + where.row(key) * step;
        C x[WIDE];
        UNROLL
        for (u32 j = 0; j < WIDE; j++) x[j] = j < columns ? widen(from[j * side]) : C(0);
        add_values(weights + key, x, rows, o);
    }
}

template <class Keys>
DEVICE void few_block(Few& shared, const T* q, const T* k, const T* v, const u8* mask, T* out, C* parts, const FewArgs& args, u64 item,
                      const Keys& keys_of) {
    const AttentionArgs& a = args.of;
    const Strides& at = a.strides;
    const u64 all = a.group * a.queries, row_chunks = (all + FEW_ROWS - 1) / FEW_ROWS, kv_heads = a.heads / a.group;
    const u32 split = (u32)(item % args.splits);
    const u64 rest = item / args.splits, matrix = rest / row_chunks, first_row = rest % row_chunks * FEW_ROWS;
    // Row i of the rows that share head kv of k and v is query i % queries of head kv * group + i / queries.
    const u64 batch = matrix / kv_heads, kv = matrix % kv_heads;
    const u32 rows = (u32)least_of(FEW_ROWS, all - first_row);
    const u32 d = (u32)a.d;
    keys_of.stage(shared, batch, split);
    for (u32 r = 0; r < rows; r++) {
        // Queries are few, and so are heads that share one of k and v.
        const u32 row = (u32)first_row + r, queries = (u32)a.queries, query = row % queries;
        const u64 head = kv * a.group + row / queries;
        if (threadIdx.x == 0) {
            const u64 masked = batch * at.mask[0] + head * at.mask[1] + query * at.mask[2];
            shared.rows[r] = RowIndices{query, (batch * a.heads + head) * a.queries + query, masked};
        }
        const T* const from = q + batch * at.q[0] + head * at.q[1] + query * at.q[2];
        for (u32 p = threadIdx.x; p < d; p += FEW_BLOCK) shared.q[r * ROW_DEPTH + p] = widen(from[p * at.q[3]]);
    }
    __syncthreads();
    const auto chunk = keys_of.chunk(shared, args, batch, split);
    const u32 keys = chunk.count;
    few_products(shared, k + chunk.from(at.k, batch) + kv * at.k[1], chunk, a, rows);
    __syncthreads();

    // Scores of each row, their maximum and the sum of the weights.
    const u32 row = threadIdx.x / ROW_THREADS, lane = threadIdx.x % ROW_THREADS;
    C* const weights = shared.weights + row * CHUNK;
    C greatest = minus_infinity(), total = C(0);
    if (row < rows) {
        for (u32 key = lane; key < keys; key += ROW_THREADS) {
            weights[key] = few_score(weights[key], mask, a, shared.rows[row], chunk.first + key);
            greatest = weights[key] > greatest ? weights[key] : greatest;
        }
    }
    shared.part[threadIdx.x] = greatest;
    __syncthreads();
    for (u32 other = 0; other < ROW_THREADS; other++) {
        const C one = shared.part[row * ROW_THREADS + other];
        greatest = one > greatest ? one : greatest;
    }
    __syncthreads(); // maxima have been read
    if (row < rows) {
        for (u32 key = lane; key < keys; key += ROW_THREADS) {
            weights[key] = m_exp(weights[key] - shift_of(greatest));
            total += weights[key];
        }
    }
    shared.part[threadIdx.x] = total;
    __syncthreads();
    // Of the thread's row: all threads of a row add in the same order.
    total = C(0);
    for (u32 other = 0; other < ROW_THREADS; other++) total += shared.part[row * ROW_THREADS + other];
    __syncthreads(); // sums have been read
    C* const statistics = parts + a.batch * a.heads * a.queries * args.splits * a.dv;
    if (lane == 0 && row < rows) {
        shared.q[row] = total; // q has been read
        if (args.splits > 1) {
            C* const own = statistics + (shared.rows[row].output * args.splits + split) * 2;
            own[0] = greatest;
            own[1] = total;
        }
    }

    // Weighted values: a thread takes WIDE columns, neighbouring threads neighbouring columns, and the others other keys.
    u32 width = 1;
    while (width < FEW_BLOCK && width * WIDE < a.dv) width *= 2;
    const u32 turn = threadIdx.x / width, turns = FEW_BLOCK / width, together = width * WIDE;
    const T* const values = v + chunk.from(at.v, batch) + kv * at.v[1];
    for (u64 slab = 0; slab < a.dv; slab += together) {
        const u64 column = slab + threadIdx.x % width * WIDE;
        C o[FEW_ROWS][WIDE] = {};
        if (column < a.dv)
            few_values(shared.weights, values + column * at.v[3], chunk, turn, turns, (u32)least_of(WIDE, a.dv - column), at.v, rows, o);
        UNROLL
        for (u32 r = 0; r < FEW_ROWS; r++) {
            if (r >= rows) break;
            UNROLL
            for (u32 j = 0; j < WIDE; j++) shared.part[threadIdx.x * WIDE + j] = o[r][j];
            __syncthreads();
            for (u32 c = threadIdx.x; c < together && slab + c < a.dv; c += FEW_BLOCK) {
                C sum = C(0);
                for (u32 other = 0; other < turns; other++) sum += shared.part[other * together + c];
                const u64 output = shared.rows[r].output;
                if (args.splits > 1) parts[(output * args.splits + split) * a.dv + slab + c] = sum;
                else out[output * a.dv + slab + c] = narrow<T>(shared.q[r] == C(0) ? C(0) : sum / shared.q[r]);
            }
            __syncthreads(); // parts have been read
        }
    }
    __syncthreads(); // everything has been read
}

// What else is made of `count` numbers of the output from number `first` of all on, of which thread i of the first threads has number i.
struct NothingElse {
    METHOD void make(Join&, C, bool, u32, u64) const {}
};
// Groups of 32 are whole: dv is a multiple.
struct AlsoRounded {
    RoundedRows to;
    METHOD void make(Join& shared, C number, bool is_first, u32 count, u64 first) const {
        constexpr u32 LANES = 8, OWN = 32 / LANES;
        __syncthreads(); // parts have been read
        if (is_first && threadIdx.x < count) shared.part[threadIdx.x] = number;
        __syncthreads();
        const bool there = threadIdx.x * OWN < count;
        f32 x[OWN] = {};
        UNROLL
        for (u32 j = 0; j < OWN; j++) x[j] = there ? (f32)shared.part[threadIdx.x * OWN + j] : 0.0f;
        round_group<LANES>(x, first / 32 + threadIdx.x / LANES, threadIdx.x % LANES, there, to);
    }
};

// A row of the output from the parts of all chunks.
template <class Else> DEVICE void few_join(Join& shared, const C* parts, T* out, const FewArgs& args, u64 row, const Else& also) {
    const AttentionArgs& a = args.of;
    const u32 splits = args.splits;
    const C* const sums = parts + row * splits * a.dv;
    const C* const statistics = parts + a.batch * a.heads * a.queries * splits * a.dv + row * splits * 2;
    C greatest = minus_infinity();
    for (u32 s = threadIdx.x; s < splits; s += FEW_BLOCK) greatest = statistics[2 * s] > greatest ? statistics[2 * s] : greatest;
    shared.part[threadIdx.x] = greatest;
    __syncthreads();
    for (u32 s = 0; s < FEW_BLOCK && s < splits; s++) greatest = shared.part[s] > greatest ? shared.part[s] : greatest;
    // A thread takes a column, the others of the column other chunks.
    u32 width = 1;
    while (width < FEW_BLOCK && width < a.dv) width *= 2;
    const u32 turn = threadIdx.x / width, turns = FEW_BLOCK / width;
    for (u64 slab = 0; slab < a.dv; slab += width) {
        const u64 column = slab + threadIdx.x % width;
        C all = C(0), total = C(0);
        for (u32 first = 0; first < splits; first += FEW_BLOCK) {
            const u32 some = (u32)least_of(FEW_BLOCK, splits - first);
            __syncthreads(); // what is shared has been read
            if (threadIdx.x < some) {
                const C* const own = statistics + (first + threadIdx.x) * 2;
                const C scale = m_exp(own[0] - shift_of(greatest));
                shared.scales[threadIdx.x] = scale;
                shared.part[threadIdx.x] = own[1] * scale;
            }
            __syncthreads();
            for (u32 s = 0; s < some; s++) total += shared.part[s];
            if (column < a.dv)
                for (u32 s = turn; s < some; s += turns) all = multiply_add(sums[(u64)(first + s) * a.dv + column], shared.scales[s], all);
        }
        __syncthreads(); // sums have been read
        shared.part[threadIdx.x] = all;
        __syncthreads();
        C made = C(0);
        if (turn == 0 && column < a.dv) {
            for (u32 other = 1; other < turns; other++) all += shared.part[other * width + threadIdx.x];
            const T number = narrow<T>(total == C(0) ? C(0) : all / total);
            out[row * a.dv + column] = number;
            made = widen(number);
        }
        also.make(shared, made, turn == 0, (u32)least_of(width, a.dv - slab), row * a.dv + slab);
    }
    __syncthreads(); // everything has been read
}

} // namespace hipstack
