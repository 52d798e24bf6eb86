//! Scaled dot product attention: softmax(q kᵀ · scale + mask) v for each head, without storing the matrix of scores.
//
// attention_tiles: a block takes a tile of query rows of one head and up to SLAB columns of v, and iterates over tiles of keys. For each
// row it keeps the running maximum of the scores, the sum of the weights, and the output. When the maximum grows, sum and output are scaled
// down ("online softmax"). Tiles of keys that the causal mask excludes are skipped.
// attention_few, attention_paged, attention_join, attention_join_rounded: attention_few.hpp.
// Launch of all: one-dimensional, block exactly 256; blocks stride over the work, so any grid is right.
//
// Floats of up to 32 bits are computed in f32, f64 in f64. The output is tight and rounded once. Products with v are accumulated in spans
// of V_KEYS keys. A row without any key (all masked, or all scores minus infinity) is 0. A masked key has weight 0 but is still multiplied,
// so 0 times infinity gives NaN.
#include "portable.hpp"
#include "attention_few.hpp"

namespace hipstack {

static constexpr u32 BLOCK = 256;
static constexpr u32 SIDE = 16;              // a tile is computed by 16 by 16 threads
static constexpr u32 N = ACCESS / sizeof(C);     // rows of a thread, keys of a thread, and elements of a 16-byte access
static constexpr u32 TILE = SIDE * N;        // rows of a tile, and keys of a tile
static constexpr u32 DEPTH = 32;             // columns of q and k that are staged at once
static constexpr u32 PITCH = DEPTH + N;      // pitch of a staged row, without bank conflicts
static constexpr u32 WEIGHTS = TILE + N;     // pitch of a row of weights
static constexpr u32 SLAB = 32 * N;          // columns of v of a block
static constexpr u32 STRIPE = SIDE * N;      // of these, columns that the block's threads compute together
static constexpr u32 STRIPES = SLAB / STRIPE;
static constexpr u32 V_KEYS = 8 * N;         // keys of v that are staged at once

// Shared memory of a block: one array for both kernels.
struct alignas(16) Tiles {
    C staged[2 * TILE * PITCH]; // q and k, then v
    C weights[TILE * WEIGHTS];
    C part[SIDE * TILE]; // partial results of the sixteen threads of each row
};
static_assert(V_KEYS * SLAB <= 2 * TILE * PITCH && STRIPE * STRIPES == SLAB, "v fits where q and k were");
union Shared {
    Tiles tiles;
    Few few;
    Join join;
};
static_assert(sizeof(Shared) <= 48 * 1024, "shared memory that every device has");
DEVICE Shared& shared_memory() {
    SHARED_ARRAY(0, Shared, shared, 1);
    return *shared;
}

DEVICE Work work_of(u64 item, u64 slabs, u64 row_tiles, u64 tile, u64 heads) {
    const u64 rest = item / slabs, matrix = rest / row_tiles;
    return Work{matrix / heads, matrix % heads, rest % row_tiles * tile, item % slabs * SLAB};
}

// The score of a key for a row, given the product of q and k.
DEVICE C score_of(C product, const u8* mask, const AttentionArgs& a, u64 row, u64 key) {
    C score = product * (C)a.scale;
    if (a.causal != 0 && key > row) return minus_infinity();
    if (a.mask_kind == 0) return score;
    const u64 offset = row * a.strides.mask[2] + key * a.strides.mask[3];
    if (a.mask_kind == 1) return mask[offset] != 0 ? score : minus_infinity();
    return score + widen(reinterpret_cast<const T*>(mask)[offset]);
}

// ---- tiles -----------------------------------------------------------------------------------------------------------
// Stages rows by columns elements in shared memory in the compute type, padded with zeros to ROWS by COLUMNS.
template <u32 ROWS, u32 COLUMNS, u32 TO>
DEVICE void stage(C* to, const T* from, u64 row_stride, u64 column_stride, u32 rows, u32 columns) {
    const bool packs = column_stride == 1 && row_stride % N == 0 && is_aligned<T, N>(from);
    for (u32 at = threadIdx.x * N; at < ROWS * COLUMNS; at += BLOCK * N) {
        const u32 row = at / COLUMNS, column = at % COLUMNS;
        Pack<C, N> x;
        UNROLL
        for (u32 n = 0; n < N; n++) x.at[n] = C(0);
        if (row < rows) {
            const T* const p = from + row * row_stride + column * column_stride;
            if (packs && column + N <= columns) {
                const Pack<T, N> pack = load_pack<N>(p);
                UNROLL
                for (u32 n = 0; n < N; n++) x.at[n] = widen(pack.at[n]);
            } else {
                UNROLL
                for (u32 n = 0; n < N; n++)
                    if (column + n < columns) x.at[n] = widen(p[n * column_stride]);
            }
        }
        store_pack<N>(to + row * TO + column, x);
    }
}

// Adds the products of the thread's rows of q and its keys over `depth` staged columns. Keys of a thread are SIDE apart.
SHARED_CODE void multiply_keys(const C* q, const C* k, u32 depth, C (&s)[N][N]) {
    for (u32 p = 0; p < depth; p += N) {
        Pack<C, N> x[N], y[N];
        UNROLL
        for (u32 i = 0; i < N; i++) {
            x[i] = load_pack<N>(q + i * PITCH + p);
            y[i] = load_pack<N>(k + i * SIDE * PITCH + p);
        }
        UNROLL
        for (u32 n = 0; n < N; n++) {
            UNROLL
            for (u32 i = 0; i < N; i++) {
                UNROLL
                for (u32 j = 0; j < N; j++) s[i][j] = multiply_add(x[i].at[n], y[j].at[n], s[i][j]);
            }
        }
    }
}

// Adds the products of the thread's rows of weights and N staged columns of v, over `keys` keys.
SHARED_CODE void multiply_values(const C* weights, const C* v, u32 keys, C (&o)[N][N]) {
    C part[N][N] = {};
    for (u32 key = 0; key < keys; key += N) {
        Pack<C, N> w[N], x[N];
        UNROLL
        for (u32 i = 0; i < N; i++) {
            w[i] = load_pack<N>(weights + i * WEIGHTS + key);
            x[i] = load_pack<N>(v + (key + i) * SLAB);
        }
        UNROLL
        for (u32 n = 0; n < N; n++) {
            UNROLL
            for (u32 i = 0; i < N; i++) {
                UNROLL
                for (u32 c = 0; c < N; c++) part[i][c] = multiply_add(w[i].at[n], x[n].at[c], part[i][c]);
            }
        }
    }
    UNROLL
    for (u32 i = 0; i < N; i++) {
        UNROLL
        for (u32 c = 0; c < N; c++) o[i][c] += part[i][c];
    }
}

// Reduces the partial results of the sixteen threads of a row, for N rows at once.
template <bool GREATEST> DEVICE void join_parts(const C* part, u32 first_row, C (&out)[N]) {
    for (u32 x = 0; x < SIDE; x++) {
        const Pack<C, N> other = load_pack<N>(part + x * TILE + first_row);
        UNROLL
        for (u32 i = 0; i < N; i++) {
            if (GREATEST) out[i] = other.at[i] > out[i] ? other.at[i] : out[i];
            else out[i] += other.at[i];
        }
    }
}

KERNEL(PASTE4(attention_, tiles, _, DTYPE), const T* q, const T* k, const T* v, const u8* mask, T* out, AttentionArgs a) {
    Tiles& shared = shared_memory().tiles;
    const Strides& at = a.strides;
    const u32 tx = threadIdx.x % SIDE, my_row = threadIdx.x / SIDE * N;
    const u64 slabs = (a.dv + SLAB - 1) / SLAB, row_tiles = (a.queries + TILE - 1) / TILE;
    const u64 items = slabs * row_tiles * a.heads * a.batch;
    for (u64 item = blockIdx.x; item < items; item += gridDim.x) {
        const Work w = work_of(item, slabs, row_tiles, TILE, a.heads);
        const u64 kv = w.head / a.group;
        const T* const rows_of_q = q + w.batch * at.q[0] + w.head * at.q[1] + w.row * at.q[2];
        const T* const keys_of_k = k + w.batch * at.k[0] + kv * at.k[1];
        const T* const keys_of_v = v + w.batch * at.v[0] + kv * at.v[1] + w.column * at.v[3];
        const u8* const head_mask = mask_of(mask, a, w);
        const u32 rows = (u32)least_of(TILE, a.queries - w.row), columns = (u32)least_of(SLAB, a.dv - w.column);
        const u64 end = a.causal != 0 ? least_of(a.keys, w.row + rows) : a.keys;
        C o[STRIPES][N][N] = {};
        C greatest[N], total[N];
        UNROLL
        for (u32 i = 0; i < N; i++) {
            greatest[i] = minus_infinity();
            total[i] = C(0);
        }
        for (u64 first = 0; first < end; first += TILE) {
            const u32 keys = (u32)least_of(TILE, end - first);
            C s[N][N] = {};
            for (u64 p = 0; p < a.d; p += DEPTH) {
                const u32 depth = (u32)least_of(DEPTH, a.d - p);
                __syncthreads(); // staged data has been read
                stage<TILE, DEPTH, PITCH>(shared.staged, rows_of_q + p * at.q[3], at.q[2], at.q[3], rows, depth);
                stage<TILE, DEPTH, PITCH>(shared.staged + TILE * PITCH, keys_of_k + first * at.k[2] + p * at.k[3], at.k[2],
                                          at.k[3], keys, depth);
                __syncthreads();
                multiply_keys(shared.staged + my_row * PITCH, shared.staged + (TILE + tx) * PITCH, depth, s);
            }
            // The maximum score of each row: first of the thread's keys, then of all.
            Pack<C, N> best;
            UNROLL
            for (u32 i = 0; i < N; i++) {
                best.at[i] = minus_infinity();
                UNROLL
                for (u32 j = 0; j < N; j++) {
                    const u32 key = tx + SIDE * j;
                    s[i][j] = key < keys && my_row + i < rows
                                  ? score_of(s[i][j], head_mask, a, w.row + my_row + i, first + key)
                                  : minus_infinity();
                    best.at[i] = s[i][j] > best.at[i] ? s[i][j] : best.at[i];
                }
            }
            store_pack<N>(shared.part + tx * TILE + my_row, best);
            __syncthreads();
            C scaling[N];
            UNROLL
            for (u32 i = 0; i < N; i++) scaling[i] = greatest[i];
            join_parts<true>(shared.part, my_row, greatest);
            UNROLL
            for (u32 i = 0; i < N; i++) {
                const C shift = shift_of(greatest[i]);
                scaling[i] = m_exp(scaling[i] - shift);
                C sum = C(0);
                UNROLL
                for (u32 j = 0; j < N; j++) {
                    const C weight = m_exp(s[i][j] - shift);
                    shared.weights[(my_row + i) * WEIGHTS + tx + SIDE * j] = weight;
                    sum += weight;
                }
                total[i] = total[i] * scaling[i] + sum;
                UNROLL
                for (u32 stripe = 0; stripe < STRIPES; stripe++) {
                    UNROLL
                    for (u32 c = 0; c < N; c++) o[stripe][i][c] *= scaling[i];
                }
            }
            for (u32 from = 0; from < keys; from += V_KEYS) {
                const u32 some = (u32)least_of(V_KEYS, keys - from);
                __syncthreads(); // weights are written, staged data has been read
                stage<V_KEYS, SLAB, SLAB>(shared.staged, keys_of_v + (first + from) * at.v[2], at.v[2], at.v[3], some, columns);
                __syncthreads();
                UNROLL
                for (u32 stripe = 0; stripe < STRIPES; stripe++)
                    if (stripe * STRIPE < columns)
                        multiply_values(shared.weights + my_row * WEIGHTS + from, shared.staged + stripe * STRIPE + tx * N,
                                        some, o[stripe]);
            }
        }
        Pack<C, N> sums;
        UNROLL
        for (u32 i = 0; i < N; i++) {
            sums.at[i] = total[i];
            total[i] = C(0);
        }
        store_pack<N>(shared.part + tx * TILE + my_row, sums);
        __syncthreads();
        join_parts<false>(shared.part, my_row, total);
        T* const to = out + ((w.batch * a.heads + w.head) * a.queries + w.row) * a.dv + w.column;
        UNROLL
        for (u32 stripe = 0; stripe < STRIPES; stripe++) {
            UNROLL
            for (u32 i = 0; i < N; i++) {
                UNROLL
                for (u32 c = 0; c < N; c++) {
                    const u32 column = stripe * STRIPE + tx * N + c;
                    if (my_row + i < rows && column < columns)
                        to[(my_row + i) * a.dv + column] = narrow<T>(total[i] == C(0) ? C(0) : o[stripe][i][c] / total[i]);
                }
            }
        }
        __syncthreads(); // sums have been read
    }
}

// ---- few --------------------------------------------------------------------------------------------------------------
KERNEL_OF(256, 2, PASTE4(attention_, few, _, DTYPE), const T* q, const T* k, const T* v, const u8* mask, T* out, C* parts, FewArgs args) {
    const AttentionArgs& a = args.of;
    const u64 rows = (a.group * a.queries + FEW_ROWS - 1) / FEW_ROWS, items = a.batch * (a.heads / a.group) * rows * args.splits;
    for (u64 item = blockIdx.x; item < items; item += gridDim.x) few_block(shared_memory().few, q, k, v, mask, out, parts, args, item, InOrder{});
}

KERNEL_OF(256, 2, PASTE4(attention_, paged, _, DTYPE), const T* q, const T* k, const T* v, const u32* table, const u32* positions, T* out,
          C* parts, IndexFault* fault, PagedArgs args) {
    const AttentionArgs& a = args.few.of;
    const u64 rows = (a.group + FEW_ROWS - 1) / FEW_ROWS, items = a.batch * (a.heads / a.group) * rows * args.few.splits;
    for (u64 item = blockIdx.x; item < items; item += gridDim.x)
        few_block(shared_memory().few, q, k, v, nullptr, out, parts, args.few, item, ByTable{table, positions, fault, args});
}

KERNEL(PASTE4(attention_, join, _, DTYPE), const C* parts, T* out, FewArgs args) {
    const u64 rows = args.of.batch * args.of.heads * args.of.queries;
    for (u64 row = blockIdx.x; row < rows; row += gridDim.x) few_join(shared_memory().join, parts, out, args, row, NothingElse{});
}

// As attention_join, and the output rounded to signed bytes too: see round_groups.hpp. dv is a multiple of 32.
#if defined(DTYPE_f32)
KERNEL(PASTE4(attention_, join_rounded, _, DTYPE), const C* parts, T* out, u8* rounded, FewArgs args, u64 scales, u64 sums) {
    const u64 rows = args.of.batch * args.of.heads * args.of.queries;
    for (u64 row = blockIdx.x; row < rows; row += gridDim.x)
        few_join(shared_memory().join, parts, out, args, row, AlsoRounded{{rounded, scales, sums}});
}
#endif

} // namespace hipstack
