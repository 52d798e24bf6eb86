//! Batched matrix product c = a b with any strides: a plain register-tiled kernel.
//
// Launch: one-dimensional, block 256. Blocks stride over the tiles of all matrices of the batch, so any grid is right; src/launch.rs
// chooses one. No shared memory, no barriers.
//
// Floats of up to 32 bits are computed in f32, f64 in f64; c is rounded once. c overlaps neither a nor b. k = 0 gives zeros. Long sums are
// split into spans of K_SPAN terms, which are summed separately.
#include "portable.hpp"

namespace hipstack {

// c[i, j] = sum over p of a[i, p] b[p, j], for each matrix of the batch. dims[0] is the outermost batch dimension.
struct MatmulArgs {
    u64 m, n, k;
    u64 batch; // product of the batch dims
    u64 a_row, a_col, b_row, b_col, c_row, c_col;
    u32 batch_rank, reserved;
    u64 batch_dims[MAX_RANK], a_batch[MAX_RANK], b_batch[MAX_RANK], c_batch[MAX_RANK];
};
SIZE(MatmulArgs, 344) OFFSET(MatmulArgs, a_row, 32) OFFSET(MatmulArgs, c_col, 72) OFFSET(MatmulArgs, batch_rank, 80)
OFFSET(MatmulArgs, batch_dims, 88) OFFSET(MatmulArgs, a_batch, 152) OFFSET(MatmulArgs, c_batch, 280)

// A block of 16 by 16 threads computes a tile of c, each thread ROWS by COLS elements. On a GPU the columns of a thread are 16 apart, so
// that a wave's accesses are coalesced; on the host they are contiguous.
static constexpr u32 SIDE = 16;
static constexpr u32 ROWS = 4, COLS = ON_HOST ? 16 : 4;
static constexpr u32 COLUMN_STEP = ON_HOST ? 1 : SIDE, THREAD_STEP = ON_HOST ? COLS : 1;
static constexpr u32 K_SPAN = 512;

// SIDE_BY_SIDE: the thread's columns of b are contiguous.
template <bool SIDE_BY_SIDE>
DEVICE void multiply(const T* const (&a)[ROWS], const T* const (&b)[COLS], const MatmulArgs& m, C (&sum)[ROWS][COLS]) {
    for (u64 begin = 0; begin < m.k; begin += K_SPAN) {
        const u64 end = m.k - begin < K_SPAN ? m.k : begin + K_SPAN;
        C part[ROWS][COLS] = {};
        for (u64 p = begin; p < end; p++) {
            const u64 at_a = p * m.a_col, at_b = p * m.b_row;
            C y[COLS];
            UNROLL
            for (u32 j = 0; j < COLS; j++) y[j] = widen(SIDE_BY_SIDE ? b[0][at_b + j] : b[j][at_b]);
            UNROLL
            for (u32 i = 0; i < ROWS; i++) {
                const C x = widen(a[i][at_a]);
                UNROLL
                for (u32 j = 0; j < COLS; j++) part[i][j] = multiply_add(x, y[j], part[i][j]);
            }
        }
        UNROLL
        for (u32 i = 0; i < ROWS; i++) {
            UNROLL
            for (u32 j = 0; j < COLS; j++) sum[i][j] += part[i][j];
        }
    }
}

// Computes the thread's part of a tile. Rows and columns beyond the edge repeat the last one and are not stored.
SHARED_CODE void tile(const T* a, const T* b, T* c, const MatmulArgs& m, u64 row, u64 column) {
    const T* rows[ROWS];
    const T* columns[COLS];
    UNROLL
    for (u32 i = 0; i < ROWS; i++) rows[i] = a + (row + i < m.m ? row + i : m.m - 1) * m.a_row;
    UNROLL
    for (u32 j = 0; j < COLS; j++) {
        const u64 at = column + j * COLUMN_STEP;
        columns[j] = b + (at < m.n ? at : m.n - 1) * m.b_col;
    }
    C sum[ROWS][COLS] = {};
    if (ON_HOST && m.b_col == 1 && column + COLS <= m.n) multiply<ON_HOST>(rows, columns, m, sum);
    else multiply<false>(rows, columns, m, sum);
    UNROLL
    for (u32 i = 0; i < ROWS; i++) {
        UNROLL
        for (u32 j = 0; j < COLS; j++) {
            const u64 at = column + j * COLUMN_STEP;
            if (row + i < m.m && at < m.n) c[(row + i) * m.c_row + at * m.c_col] = narrow<T>(sum[i][j]);
        }
    }
}

struct Tiles {
    u64 down, across, count;
    METHOD explicit Tiles(const MatmulArgs& m)
        : down((m.m + SIDE * ROWS - 1) / (SIDE * ROWS)), across((m.n + SIDE * COLS - 1) / (SIDE * COLS)), count(down * across * m.batch) {}
};

KERNEL(PASTE4(matmul, _, DTYPE, ), const T* a, const T* b, T* c, MatmulArgs m) {
    const Tiles tiles(m);
    for (u64 t = blockIdx.x; t < tiles.count; t += gridDim.x) {
        const u64 matrix = t / (tiles.down * tiles.across), tile_index = t % (tiles.down * tiles.across);
        const u64 row = (tile_index / tiles.across * SIDE + threadIdx.x / SIDE) * ROWS;
        const u64 column = tile_index % tiles.across * (SIDE * COLS) + threadIdx.x % SIDE * THREAD_STEP;
        if (row >= m.m || column >= m.n) continue;
        const Offsets at = offsets(matrix, m.batch, m.batch_rank, m.batch_dims, m.a_batch, m.b_batch);
        const u64 to = offsets(matrix, m.batch, m.batch_rank, m.batch_dims, m.c_batch, m.c_batch).a;
        tile(a + at.a, b + at.b, c + to, m, row, column);
    }
}

} // namespace hipstack
