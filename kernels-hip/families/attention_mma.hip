//! Attention by matrix units, for f16 and bf16: softmax(q kᵀ · scale + mask) v for each head.
//
// attention_mma_<depth>: d and dv are multiples of 8 and at most `depth`. Launch: one-dimensional, block exactly 128; blocks stride over
// the work, so any grid is right. Rows of q, k and v are tight and 16 bytes aligned. batch · heads · queries and keys are below 2^31.
//
// A block takes ROWS rows of q, a group of lanes 16 of them, and iterates over the keys in tiles of KEYS. Masks and results are those of
// attention_tiles. Scores and outputs stay in fragments (mma.hpp), and so does as much of q as the registers allow. k of the next tile and
// v of this one are copied to shared memory while the units multiply.
//
// The number that is subtracted from a row's scores follows their maximum only if that grows by more than MARGIN. Most tiles then need
// neither the maxima of other lanes nor a rescaling of the outputs. Weights are at most 2^(SHIFT + MARGIN).
//
// With weights of 16 bits, the error of a 16-bit output would be twice that of its rounding. So a weight is the sum of two 16-bit numbers;
// q kᵀ takes one product, weights times v two. The first number is rounded down. The second is the rest of the weight times 1 + 2^-22,
// which is above 0, so that a weight times infinity is infinity. The sum of the weights is scaled by the same factor. In f16 the second
// number is 0 below 2^-25: infinity times a weight below 2^-13 of the greatest can be NaN there.
//
// The exponent of a weight is score · factor - shift · factor, computed by one fma with a rounded shift · factor. That rounding is the same
// for all weights of a row, so it cancels unless the product is large. Beyond FAR the subtraction comes first.
#include "portable.hpp"
#include "attention.hpp"
#include "mma.hpp"

namespace hipstack {

static constexpr u32 BLOCK = 128, GROUPS = BLOCK / GROUP;
static constexpr u32 ROWS = GROUPS * 16; // rows of q of a block
static constexpr u32 NK = ON_AMD ? 2 : 4; // keys of a tile, in fragments
// Fragments of q that stay in registers: as many as cause no spills.
static constexpr u32 KEPT = ON_AMD ? 1 : 2;
static constexpr f32 LOG2_E = 1.44269504088896340736f;
// f16 has a small exponent range, so its weights are scaled up by 2^SHIFT.
static constexpr f32 SHIFT = IS_BF16 ? 0.0f : 10.0f, MARGIN = 5.0f, FAR = 16384.0f;

// Rows of q, k and v: one array for all kernels.
DEVICE T* shared_memory() {
    struct alignas(16) Staged { T at[(ROWS + 2 * NK * 16) * 128]; };
    SHARED_ARRAY(0, Staged, staged, 1);
    return staged->at;
}

// The index of 16-byte chunk `chunk` of a row. Chunks are swizzled, so that the same chunk of eight rows is in different banks.
template <u32 DEPTH> DEVICE u32 swizzled(u32 row, u32 chunk) {
    static_assert(DEPTH % 64 == 0, "rows of 8 chunks or more");
    return row * DEPTH + (chunk ^ (row & 7u)) * 8;
}
// From the index of chunk c (0 or 1) of a row to that of chunk 2p + c, `rows` rows below. rows is a multiple of 8.
template <u32 DEPTH> DEVICE u32 advance(u32 from, u32 rows, u32 p) {
    return (from ^ (p & 3u) * 16) + (p & ~3u) * 16 + rows * DEPTH;
}

// A thread copies its 16-byte chunk of a row, and from there every WIDE-th chunk and HIGH-th row.
static constexpr u32 WIDE = 8, HIGH = BLOCK / WIDE;
DEVICE u32 copied_row() { return threadIdx.x / WIDE; }
DEVICE u32 copied_chunk() { return threadIdx.x % WIDE; }

// Starts copying COUNT rows to shared memory, with zeros beyond `rows` and `columns`. from: the thread's first chunk.
template <u32 DEPTH, u32 COUNT> DEVICE void begin_copy(T* to, const T* from, u64 stride, u32 rows, u32 columns) {
    static_assert(COUNT % HIGH == 0 && HIGH % 8 == 0, "all threads copy as much");
    const u32 row = copied_row(), chunk = copied_chunk(), first = swizzled<DEPTH>(row, chunk);
    const T* p = from;
    UNROLL
    for (u32 i = 0; i < COUNT; i += HIGH) {
        UNROLL
        for (u32 j = 0; j < DEPTH / 8; j += WIDE) {
            const bool there = row + i < rows && (chunk + j) * 8 < columns;
            copy_16(to + first + i * DEPTH + j * 8, p + j * 8, there);
        }
        p += HIGH * stride;
    }
}

template <u32 DEPTH> DEVICE void load_q(Fragment& to, const T* q, u32 p) {
    load_rows(to, lane_of_group(), [&](u32 row, u32 chunk) { return q + advance<DEPTH>(swizzled<DEPTH>(row, chunk), 0, p); });
}

// s += q kᵀ for the group's rows and the tile's keys.
template <u32 DEPTH> DEVICE void multiply_keys(const T* q, const Fragment (&kept)[KEPT], const T* k, Sums (&s)[NK][1]) {
    const u32 lane = lane_of_group();
    UNROLL
    for (u32 p = 0; p < DEPTH / 16; p++) {
        Fragment a[1];
        if (p < KEPT) a[0] = kept[p];
        else load_q<DEPTH>(a[0], q, p);
        UNROLL
        for (u32 n = 0; n < NK; n++) {
            Fragment b;
            load_keys(b, lane, [&](u32 row, u32 chunk) { return k + advance<DEPTH>(swizzled<DEPTH>(row, chunk), n * 16, p); });
            multiply(s[n], a, b);
        }
    }
}

// o += weights times v.
template <u32 DEPTH> DEVICE void multiply_values(const Sums (&s)[NK][1], const T* v, Sums (&o)[DEPTH / 16][1]) {
    const u32 lane = lane_of_group();
    UNROLL
    for (u32 p = 0; p < NK; p++) {
        Fragment high[1], low[1];
        weights_of(s[p][0], high[0], low[0]);
        UNROLL
        for (u32 n = 0; n < DEPTH / 16; n++) {
            Fragment b;
            load_values(b, lane, [&](u32 row, u32 chunk) { return v + advance<DEPTH>(swizzled<DEPTH>(row, chunk), p * 16, n); });
            multiply(o[n], high, b);
            multiply(o[n], low, b);
        }
    }
}

// Sets the scores of hidden keys to minus infinity. seen: how many of the tile's keys each of the lane's rows attends to. `column` is the
// lane's first key.
DEVICE void hide_keys(Sums (&s)[NK][1], const u32 (&seen)[HELD], u32 column) {
    UNROLL
    for (u32 n = 0; n < NK; n++) {
        UNROLL
        for (u32 h = 0; h < HELD; h++) {
            UNROLL
            for (u32 e = 0; e < EACH; e++)
                if (n * 16 + column_step(e) + column >= seen[h]) s[n][0][h][e] = minus_infinity();
        }
    }
}

// Scales the scores and applies the mask of a head. row: the group's first row; first + column: the lane's first key.
DEVICE void mask_keys(Sums (&s)[NK][1], const u32 (&seen)[HELD], u32 row, u32 first, u32 column, const u8* mask,
                      const AttentionArgs& a) {
    const f32 scale = (f32)a.scale;
    const u64 by_row = a.strides.mask[2], by_key = a.strides.mask[3];
    UNROLL
    for (u32 h = 0; h < HELD; h++) {
        const u64 of_row = (row + held_row(h)) * by_row + (first + column) * by_key;
        UNROLL
        for (u32 n = 0; n < NK; n++) {
            UNROLL
            for (u32 e = 0; e < EACH; e++) {
                f32& score = s[n][0][h][e];
                score *= scale;
                const u32 key = n * 16 + column_step(e);
                if (a.mask_kind == 0 || column + key >= seen[h]) continue;
                const u64 offset = of_row + key * by_key;
                if (a.mask_kind == 2) score += widen(reinterpret_cast<const T*>(mask)[offset]);
                else if (mask[offset] == 0) score = minus_infinity();
            }
        }
    }
}

// The head and the first row of a work item. With a causal mask the last rows have the most keys, so they come first.
DEVICE Work work_of(u32 item, const AttentionArgs& a) {
    const u32 heads = (u32)a.heads, matrices = heads * (u32)a.batch, matrix = item % matrices;
    const u32 row_tiles = ((u32)a.queries + ROWS - 1) / ROWS;
    return Work{matrix / heads, matrix % heads, (row_tiles - 1 - item / matrices) * ROWS, 0};
}
DEVICE u32 smaller(u32 a, u32 b) { return a < b ? a : b; }

template <u32 DEPTH>
DEVICE void attend(const T* q, const T* k, const T* v, const u8* mask, T* out, const AttentionArgs& a) {
    constexpr u32 KEYS = NK * 16;
    const Strides& by = a.strides;
    const u32 group_row = threadIdx.x / GROUP * 16, my_key = held_column(0);
    T* const shared = shared_memory();
    T* const staged_k = shared + ROWS * DEPTH;
    T* const staged_v = staged_k + KEYS * DEPTH;
    T* const mine = shared + group_row * DEPTH; // rows of q of the group, finally of the output
    const u32 items = ((u32)a.queries + ROWS - 1) / ROWS * (u32)(a.heads * a.batch);
    // With a positive scale, products order as scores do, so the scale can be applied in the exponent.
    const f32 scaled = (f32)(a.scale * 1.44269504088896340736);
    // -infinity of hidden keys times a factor of 0 would be NaN.
    const bool plain = a.mask_kind == 0 && scaled > 0.0f;
    const f32 factor = plain ? scaled : LOG2_E;
    for (u32 item = blockIdx.x; item < items; item += gridDim.x) {
        const Work w = work_of(item, a);
        const u64 kv = w.head / (u32)a.group;
        const u32 row = copied_row(), column = copied_chunk() * 8;
        const T* next_k = k + w.batch * by.k[0] + kv * by.k[1] + row * by.k[2] + column;
        const T* next_v = v + w.batch * by.v[0] + kv * by.v[1] + row * by.v[2] + column;
        const u32 first_row = (u32)w.row, rows = smaller(ROWS, (u32)a.queries - first_row);
        const u32 end = a.causal != 0 ? smaller((u32)a.keys, first_row + rows) : (u32)a.keys;
        __syncthreads(); // outputs of the previous item have been read
        const T* const first_q = q + w.batch * by.q[0] + w.head * by.q[1] + (w.row + row) * by.q[2] + column;
        begin_copy<DEPTH, ROWS>(shared, first_q, by.q[2], rows, (u32)a.d);
        begin_copy<DEPTH, KEYS>(staged_k, next_k, by.k[2], smaller(KEYS, end), (u32)a.d);
        copies_arrive();
        __syncthreads(); // q has arrived
        Fragment kept[KEPT];
        UNROLL
        for (u32 p = 0; p < KEPT; p++) load_q<DEPTH>(kept[p], mine, p);
        Sums o[DEPTH / 16][1] = {};
        f32 lagged_max[HELD], total[HELD]; // lagged_max: subtracted from the scores, -infinity at first
        UNROLL
        for (u32 h = 0; h < HELD; h++) lagged_max[h] = minus_infinity(), total[h] = 0.0f;
        for (u32 first = 0; first < end; first += KEYS) {
            copies_arrive();
            __syncthreads(); // k has arrived, v has been read
            begin_copy<DEPTH, KEYS>(staged_v, next_v, by.v[2], smaller(KEYS, end - first), (u32)a.dv);
            next_v += KEYS * by.v[2];
            Sums s[NK][1] = {};
            multiply_keys<DEPTH>(mine, kept, staged_k, s);
            if (!plain || first + KEYS > (a.causal != 0 ? smaller((u32)a.keys, first_row + 1) : (u32)a.keys)) {
                u32 seen[HELD];
                UNROLL
                for (u32 h = 0; h < HELD; h++) {
                    const u32 row = first_row + group_row + held_row(h);
                    const u32 last = a.causal != 0 ? smaller((u32)a.keys, row + 1) : (u32)a.keys;
                    seen[h] = row < (u32)a.queries && last > first ? last - first : 0;
                }
                if (!plain) mask_keys(s, seen, first_row + group_row, first, my_key, mask_of(mask, a, work_of(item, a)), a);
                hide_keys(s, seen, my_key);
            }
            f32 best[HELD];
            bool above = false;
            UNROLL
            for (u32 h = 0; h < HELD; h++) {
                best[h] = s[0][0][h][0];
                UNROLL
                for (u32 n = 1; n < NK * EACH; n++) best[h] = greater(best[h], s[n / EACH][0][h][n % EACH]);
                above = above || (best[h] - lagged_max[h]) * factor > MARGIN;
            }
            if (any_lane(above)) {
                UNROLL
                for (u32 h = 0; h < HELD; h++) {
                    const f32 before = lagged_max[h];
                    lagged_max[h] = greater(before, join_lanes(best[h], greater));
                    const f32 shift = shift_of(lagged_max[h]), base = shift * factor;
                    const f32 scaling = exp2_of(m_abs(base) > FAR ? (before - shift) * factor : before * factor - base);
                    total[h] *= scaling;
                    UNROLL
                    for (u32 n = 0; n < DEPTH / 16; n++) {
                        UNROLL
                        for (u32 e = 0; e < EACH; e++) o[n][0][h][e] *= scaling;
                    }
                }
            }
            f32 base[HELD];
            bool far = false;
            UNROLL
            for (u32 h = 0; h < HELD; h++) {
                base[h] = shift_of(lagged_max[h]) * factor;
                far = far || m_abs(base[h]) > FAR;
            }
            if (any_lane(far)) {
                UNROLL
                for (u32 h = 0; h < HELD; h++) {
                    const f32 first = m_abs(base[h]) > FAR ? lagged_max[h] : 0.0f;
                    if (first != 0.0f) base[h] = 0.0f;
                    UNROLL
                    for (u32 n = 0; n < NK * EACH; n++) s[n / EACH][0][h][n % EACH] -= first;
                }
            }
            UNROLL
            for (u32 h = 0; h < HELD; h++) {
                const f32 offset = SHIFT - base[h];
                f32 sum = 0.0f;
                UNROLL
                for (u32 n = 0; n < NK * EACH; n++) {
                    f32& x = s[n / EACH][0][h][n % EACH];
                    x = exp2_of(m_fma(x, factor, offset));
                    sum += x;
                }
                total[h] += sum;
            }
            copies_arrive();
            __syncthreads(); // v has arrived, k has been read
            next_k += KEYS * by.k[2];
            if (first + KEYS < end)
                begin_copy<DEPTH, KEYS>(staged_k, next_k, by.k[2], smaller(KEYS, end - first - KEYS), (u32)a.d);
            multiply_values<DEPTH>(s, staged_v, o);
        }
        copies_arrive();
        __syncthreads(); // q has been read
        UNROLL
        for (u32 h = 0; h < HELD; h++) {
            const f32 sum = join_lanes(total[h] * ABOVE_ONE, [](f32 x, f32 y) { return x + y; });
            const f32 inverse = sum == 0.0f ? 0.0f : 1.0f / sum;
            UNROLL
            for (u32 n = 0; n < DEPTH / 16; n++) {
                UNROLL
                for (u32 e = 0; e < EACH; e++) {
                    const u32 column = n * 16 + column_step(e) + my_key;
                    mine[swizzled<DEPTH>(held_row(h), column / 8) + column % 8] =
                        narrow<T>(sum == 0.0f ? 0.0f : o[n][0][h][e] * inverse);
                }
            }
        }
        sync_wave();
        const Work done = work_of(item, a);
        T* const to = out + ((done.batch * a.heads + done.head) * a.queries + done.row) * a.dv;
        constexpr u32 CHUNKS = DEPTH / 8;
        for (u32 at = lane_of_group(); at < 16 * CHUNKS; at += GROUP) {
            const u32 row = at / CHUNKS, chunk = at % CHUNKS, in_tile = group_row + row;
            if (in_tile < rows && chunk * 8 < a.dv)
                write_pack<8>(to + in_tile * a.dv + chunk * 8, load_pack<8>(mine + swizzled<DEPTH>(row, chunk)));
        }
    }
}

// Three blocks share a multiprocessor where that causes no spills.
#if ON_NVIDIA && __CUDA_ARCH__ == 900
#define MMA_KERNEL(...) KERNEL_OF(128, 3, __VA_ARGS__)
#else
#define MMA_KERNEL(...) KERNEL(__VA_ARGS__)
#endif
#define ATTENTION(depth)                                                                                                   \
    MMA_KERNEL(PASTE4(attention_mma_, depth, _, DTYPE), const T* q, const T* k, const T* v, const u8* mask, T* out, AttentionArgs a) { \
        attend<depth>(q, k, v, mask, out, a);                                                                              \
    }
ATTENTION(64)
ATTENTION(128)

} // namespace hipstack
