//! Tiled transpose through shared memory: copies where source and destination are contiguous along different dimensions.
//
// dst[g, i, j] = src[g, i, j], where src is contiguous along i and dst along j. A unit serves all dtypes of its size, because only bits are
// copied.
//
// Launch: one-dimensional, block 256. Blocks stride over the tiles of all matrices of the batch, so any grid is right; src/launch.rs
// chooses one. src and dst do not overlap; elements of dst are distinct.
//
// A thread accesses 16 bytes of global memory at once where addresses are aligned. Shared memory is accessed in aligned words of 4 bytes (8
// for elements of 8); small elements are extracted by shifts.
#include "portable.hpp"

namespace hipstack {

// src[g, i, j] is at g's offset + i + j src_column, dst[g, i, j] at g's offset + i dst_row + j.
struct TransposeMap {
    u64 rows, columns; // lengths of i and j
    u64 src_column, dst_row;
    u64 batch; // product of the batch dims
    u32 batch_rank, reserved;
    u64 batch_dims[MAX_RANK], src_batch[MAX_RANK], dst_batch[MAX_RANK];
};
SIZE(TransposeMap, 240) OFFSET(TransposeMap, dst_row, 24) OFFSET(TransposeMap, batch_rank, 40)
OFFSET(TransposeMap, batch_dims, 48) OFFSET(TransposeMap, src_batch, 112) OFFSET(TransposeMap, dst_batch, 176)

template <u32 BYTES> struct WordOf { typedef u32 Type; };
template <> struct WordOf<8> { typedef u64 Type; };
typedef WordOf<sizeof(T)>::Type Word;

static constexpr u32 BLOCK = 256;
// Elements of a word; elements and words of 16 bytes.
static constexpr u32 PART = sizeof(Word) / sizeof(T), N = ACCESS / sizeof(T), WORDS = N / PART;
static constexpr u32 BITS = 8 * sizeof(T);
static constexpr Word MASK = ~Word(0) >> (8 * sizeof(Word) - BITS);
// Edge of a tile: at least 128 bytes.
static constexpr u32 EDGE = sizeof(T) == 1 ? 128 : sizeof(T) == 8 ? 32 : 64;
static constexpr u32 PACKS = EDGE / N, TURNS = EDGE * PACKS / BLOCK;
// The pitch of a line in shared memory is PITCH words, plus SHIFT words every N lines. This avoids bank conflicts both for writes along
// lines and for reads across them. If four blocks of padded tiles do not fit, lines have no padding and the packs of a line are swizzled
// instead.
static constexpr u32 LINE = EDGE / PART, GAP_SHIFT = PACKS == 8 ? 4 : sizeof(T) == 4 ? 2 : 1;
static constexpr bool SWIZZLED = (EDGE * (LINE + 1) + PACKS * GAP_SHIFT) * sizeof(Word) > SHARED_AT_4_BLOCKS;
static constexpr u32 PITCH = SWIZZLED ? LINE : LINE + 1, SHIFT = SWIZZLED ? 0 : GAP_SHIFT;
static constexpr u32 TILE = EDGE * PITCH + PACKS * SHIFT;
DEVICE u32 line_at(u32 line) { return line * PITCH + line / N * SHIFT; }
// The swizzle: a mask for word indices in a line, the same for N lines.
DEVICE u32 swizzle(u32 line) { return SWIZZLED ? line / N * WORDS & (LINE - 1) : 0; }

typedef Pack<Word, WORDS> Line;
// Element e of a word; a word with the value v as its element e.
DEVICE Word get(Word w, u32 e) { return w >> BITS * e & MASK; }
DEVICE Word put(Word v, u32 e) { return (v & MASK) << BITS * e; }

// Up to N elements; those beyond `left` are not accessed.
DEVICE Line load_some(const T* p, u64 left) {
    if (left >= N && is_aligned<T, N>(p)) return load_line<Line>(p);
    Line out = {};
    UNROLL
    for (u32 s = 0; s < N; s++) {
        if (s < left) out.at[s / PART] |= put((Word)p[s], s % PART);
    }
    return out;
}
DEVICE void store_some(T* p, u64 left, const Line& v) {
    if (left >= N && is_aligned<T, N>(p)) {
        store_line(p, v);
        return;
    }
    UNROLL
    for (u32 s = 0; s < N; s++) {
        if (s < left) p[s] = (T)get(v.at[s / PART], s % PART);
    }
}

KERNEL(PASTE4(transpose, _, DTYPE, ), const T* src, T* dst, TransposeMap m) {
    __shared__ Word tile[TILE];
    const u64 down = (m.rows + EDGE - 1) / EDGE, across = (m.columns + EDGE - 1) / EDGE;
    for (u64 t = blockIdx.x; t < down * across * m.batch; t += gridDim.x) {
        const u64 g = t / (down * across), in_matrix = t - g * (down * across), row = in_matrix / across;
        const u64 i0 = row * EDGE, j0 = (in_matrix - row * across) * EDGE;
        const Offsets at = offsets(g, m.batch, m.batch_rank, m.batch_dims, m.src_batch, m.dst_batch);
        // Lines along i: all loads are in flight before the first is used.
        Line line[TURNS];
        UNROLL
        for (u32 turn = 0; turn < TURNS; turn++) {
            const u32 k = turn * BLOCK + threadIdx.x;
            const u64 i = i0 + k % PACKS * N, j = j0 + k / PACKS;
            const bool inside = i < m.rows && j < m.columns;
            line[turn] = load_some(src + (inside ? at.a + i + j * m.src_column : 0), inside ? m.rows - i : 0);
        }
        UNROLL
        for (u32 turn = 0; turn < TURNS; turn++) {
            const u32 k = turn * BLOCK + threadIdx.x;
            UNROLL
            for (u32 w = 0; w < WORDS; w++) tile[line_at(k / PACKS) + (k % PACKS * WORDS ^ swizzle(k / PACKS)) + w] = line[turn].at[w];
        }
        __syncthreads();
        // Lines along j, PART of them at once: N words have N elements of each.
        UNROLL
        for (u32 turn = 0; turn < TURNS / PART; turn++) {
            const u32 k = turn * BLOCK + threadIdx.x, pack = k % PACKS;
            const u64 i = i0 + k / PACKS * PART, j = j0 + pack * N;
            if (i >= m.rows || j >= m.columns) continue;
            Word across_lines[N];
            UNROLL
            for (u32 s = 0; s < N; s++) across_lines[s] = tile[line_at(pack * N) + s * PITCH + (k / PACKS ^ swizzle(pack * N))];
            UNROLL
            for (u32 e = 0; e < PART; e++) {
                if (i + e >= m.rows) break;
                Line out = {};
                UNROLL
                for (u32 s = 0; s < N; s++) out.at[s / PART] |= put(get(across_lines[s], e), s % PART);
                store_some(dst + at.b + (i + e) * m.dst_row + j, m.columns - j, out);
            }
        }
        __syncthreads();
    }
}

} // namespace hipstack
