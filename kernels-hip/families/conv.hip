//! Two-dimensional convolution, forward and transposed, with groups and bias. One-dimensional convolution has height 1.
//
// conv_tile: matrix products of a group's filters and input patches. A block computes a tile of TILE_ROWS output channels by TILE_COLS
// positions, with SLICE taps of both factors in shared memory. Launch: one-dimensional, block 256; blocks stride over the tiles, so any
// grid is right.
// conv_depthwise: for groups of one input channel. A thread computes RUN positions of one row. Launch: one-dimensional, any block up to
// 256, any grid.
//
// Floats of up to 32 bits are computed in f32, f64 in f64. The bias is added to the sum, which is rounded once. conv_tile sums up the SLICE
// terms of a slice first, then the slices. Positions outside the input count as zeros. The output is tight and overlaps no input; inputs
// may have any strides. conv_wide and conv_mma handle convolutions with many output channels and taps.
#include "portable.hpp"
#include "conv.hpp"

namespace hipstack {

// ---- tiles -----------------------------------------------------------------------------------------------------------
// A thread computes ROWS by COLS elements of the tile. On a GPU its columns are COL_THREADS apart, so that accesses of a wave are
// coalesced; on the host they are contiguous.
static constexpr u32 COL_THREADS = ON_HOST ? 8 : 32, ROW_THREADS = MAX_BLOCK / COL_THREADS;
static constexpr u32 ROWS = ON_HOST || sizeof(C) > 4 ? 4 : 8, COLS = ON_HOST ? 16 : 4;
static constexpr u32 TILE_ROWS = ROW_THREADS * ROWS, TILE_COLS = COL_THREADS * COLS;
static constexpr u32 COLUMN_STEP = ON_HOST ? 1 : COL_THREADS, THREAD_STEP = ON_HOST ? COLS : 1;
static constexpr u32 SLICE = 16;
static constexpr u32 LOADERS = MAX_BLOCK / TILE_COLS; // threads that load one column of an input slice
static_assert(MAX_BLOCK % TILE_COLS == 0 && SLICE % LOADERS == 0 && SLICE * TILE_ROWS % MAX_BLOCK == 0, "whole rounds");

// A tap: its offset in the filter, and its row, column and element offsets from a position's first tap.
struct Tap { i64 h, w; u64 x, f; };
struct Slices {
    C filter[SLICE][TILE_ROWS + 4]; // padding by four, to reduce bank conflicts of the writes
    C input[SLICE][TILE_COLS];
    Tap taps[2][SLICE];
};

DEVICE Tap tap_of(u64 k, const ConvArgs& m, const Phase& h, const Phase& w) {
    u64 rest, column;
    const u64 channel = divide(k, h.count * w.count, rest);
    const u64 row = divide(rest, w.count, column);
    Tap tap;
    tap.h = (i64)row * h.move;
    tap.w = (i64)column * w.move;
    tap.x = channel * m.x_c + (u64)tap.h * m.x_h + (u64)tap.w * m.x_w;
    tap.f = channel * m.f_c + (h.first + row * m.h.tap_step) * m.f_h + (w.first + column * m.w.tap_step) * m.f_w;
    return tap;
}

DEVICE void multiply(const Slices& s, u32 row, u32 column, C (&sum)[ROWS][COLS]) {
    C part[ROWS][COLS] = {};
    for (u32 k = 0; k < SLICE; k++) {
        C x[COLS];
        UNROLL
        for (u32 j = 0; j < COLS; j++) x[j] = s.input[k][column + j * COLUMN_STEP];
        UNROLL
        for (u32 i = 0; i < ROWS; i++) {
            const C f = s.filter[k][row + i];
            UNROLL
            for (u32 j = 0; j < COLS; j++) part[i][j] = multiply_add(f, x[j], part[i][j]);
        }
    }
    UNROLL
    for (u32 i = 0; i < ROWS; i++) {
        UNROLL
        for (u32 j = 0; j < COLS; j++) sum[i][j] += part[i][j];
    }
}

KERNEL(PASTE4(conv_tile, _, DTYPE, ), const T* x, const T* f, const T* bias, T* out, ConvArgs given) {
    __shared__ Slices s;
    ARGUMENTS(ConvArgs, m, given);
    const u64 down = (m.out_channels + TILE_ROWS - 1) / TILE_ROWS;
    const u64 rows = positions(m.h), columns = positions(m.w), count = m.batch * rows * columns;
    const u64 across = (count + TILE_COLS - 1) / TILE_COLS;
    const u64 tiles = down * across * m.groups * phases(m.h) * phases(m.w);
    const u32 row = threadIdx.x / COL_THREADS * ROWS, column = threadIdx.x % COL_THREADS * THREAD_STEP;
    for (u64 t = blockIdx.x; t < tiles; t += gridDim.x) {
        u64 top, left, group, h_rest, w_rest;
        left = divide(t, down, top);
        group = divide(left, across, left);
        h_rest = divide(group, m.groups, group);
        h_rest = divide(h_rest, phases(m.w), w_rest);
        top *= TILE_ROWS;
        left *= TILE_COLS;
        const Phase h = phase_of(m.h, h_rest), w = phase_of(m.w, w_rest);
        const u64 terms = m.in_channels * h.count * w.count;

        // The position whose input this thread loads.
        const u64 position = left + threadIdx.x % TILE_COLS;
        u64 image, y, z;
        image = divide(divide(position, columns, z), rows, y);
        const i64 y0 = (i64)y * m.h.step + h.start, z0 = (i64)z * m.w.step + w.start;
        const u64 from = image * m.x_n + group * m.in_channels * m.x_c + (u64)y0 * m.x_h + (u64)z0 * m.x_w;
        const T* const filters = f + (group * m.f_g + top * m.f_o);

        C sum[ROWS][COLS] = {};
        if (threadIdx.x < SLICE && threadIdx.x < terms) s.taps[0][threadIdx.x] = tap_of(threadIdx.x, m, h, w);
        __syncthreads();
        u32 turn = 0;
        for (u64 begin = 0; begin < terms; begin += SLICE, turn ^= 1u) {
            const u32 length = terms - begin < SLICE ? (u32)(terms - begin) : SLICE;
            UNROLL
            for (u32 i = 0; i < SLICE / LOADERS; i++) {
                const u32 k = threadIdx.x / TILE_COLS + i * LOADERS;
                C value = C(0);
                if (k < length && position < count) {
                    const Tap& tap = s.taps[turn][k];
                    if ((u64)(y0 + tap.h) < m.h.in && (u64)(z0 + tap.w) < m.w.in) value = widen(x[from + tap.x]);
                }
                s.input[k][threadIdx.x % TILE_COLS] = value;
            }
            UNROLL
            for (u32 i = 0; i < SLICE * TILE_ROWS / MAX_BLOCK; i++) {
                const u32 k = threadIdx.x % SLICE, r = threadIdx.x / SLICE + i * (MAX_BLOCK / SLICE);
                const bool inside = k < length && top + r < m.out_channels;
                s.filter[k][r] = inside ? widen(filters[r * m.f_o + s.taps[turn][k].f]) : C(0);
            }
            const u64 next = begin + SLICE + threadIdx.x;
            if (threadIdx.x < SLICE && next < terms) s.taps[turn ^ 1u][threadIdx.x] = tap_of(next, m, h, w);
            __syncthreads();
            if (top + row < m.out_channels && left + column < count) multiply(s, row, column, sum);
            __syncthreads();
        }

        const u64 plane = m.h.out * m.w.out;
        UNROLL
        for (u32 j = 0; j < COLS; j++) {
            const u64 at = left + column + j * COLUMN_STEP;
            u64 q_h, q_w;
            const u64 n = divide(divide(at, columns, q_w), rows, q_h);
            const u64 to_h = q_h * m.h.up + h_rest, to_w = q_w * m.w.up + w_rest;
            if (at >= count || to_h >= m.h.out || to_w >= m.w.out) continue;
            const u64 first = (n * m.groups + group) * m.out_channels * plane + to_h * m.w.out + to_w;
            UNROLL
            for (u32 i = 0; i < ROWS; i++) {
                const u64 o = top + row + i;
                if (o >= m.out_channels) continue;
                const u64 channel = group * m.out_channels + o;
                const C total = m.has_bias != 0 ? sum[i][j] + widen(bias[channel * m.bias_step]) : sum[i][j];
                out[first + o * plane] = narrow<T>(total);
            }
        }
    }
}

// ---- depthwise --------------------------------------------------------------------------------------------------------
static constexpr u32 RUN = ON_HOST ? 16 : 4;

// Adds the products of one row of taps to the sums of the thread's positions. z0: the input column of the first position and tap. INSIDE:
// all positions and taps are inside the row, and neighbouring positions have neighbouring inputs.
template <bool INSIDE>
DEVICE void add_row(const T* x, const T* f, i64 z0, const Phase& w, const ConvArgs& m, C (&sum)[RUN]) {
    C part[RUN] = {};
    ROLLED
    for (u64 j = 0; j < w.count; j++) {
        const C tap = widen(f[j * m.w.tap_step * m.f_w]);
        const i64 z = z0 + (i64)j * w.move;
        UNROLL
        for (u32 r = 0; r < RUN; r++) {
            if constexpr (INSIDE) {
                part[r] = multiply_add(tap, widen(x[z + r]), part[r]);
            } else {
                const i64 at = z + (i64)r * m.w.step;
                if ((u64)at < m.w.in) part[r] = multiply_add(tap, widen(x[(u64)at * m.x_w]), part[r]);
            }
        }
    }
    UNROLL
    for (u32 r = 0; r < RUN; r++) sum[r] += part[r];
}

KERNEL(PASTE4(conv_depthwise, _, DTYPE, ), const T* x, const T* f, const T* bias, T* out, ConvArgs given) {
    ARGUMENTS(ConvArgs, m, given);
    const u64 channels = m.groups * m.out_channels, columns = positions(m.w), runs = (columns + RUN - 1) / RUN;
    const u64 count = m.batch * channels * m.h.out * phases(m.w) * runs;
    for (u64 item = thread_number(); item < count; item += thread_count()) {
        u64 run, w_rest, y, channel, o, h_rest;
        u64 rest = divide(item, runs, run);
        rest = divide(rest, phases(m.w), w_rest);
        rest = divide(rest, m.h.out, y);
        const u64 n = divide(rest, channels, channel);
        const u64 group = divide(channel, m.out_channels, o);
        const u64 q = divide(y, m.h.up, h_rest);
        const Phase h = phase_of(m.h, h_rest), w = phase_of(m.w, w_rest);
        const i64 y0 = (i64)q * m.h.step + h.start, z0 = (i64)(run * RUN) * m.w.step + w.start;
        const T* const plane = x + (n * m.x_n + group * m.x_c);
        const T* const taps = f + (group * m.f_g + o * m.f_o + h.first * m.f_h + w.first * m.f_w);
        const i64 reach = w.count != 0 ? (i64)(w.count - 1) * w.move : 0;
        const i64 lowest = z0 + (reach < 0 ? reach : 0), highest = z0 + (i64)(RUN - 1) + (reach > 0 ? reach : 0);
        const bool inside = m.w.step == 1 && m.x_w == 1 && lowest >= 0 && highest < (i64)m.w.in;
        C sum[RUN] = {};
        ROLLED
        for (u64 j = 0; j < h.count; j++) {
            const i64 i = y0 + (i64)j * h.move;
            if ((u64)i >= m.h.in) continue;
            const T* const row = plane + (u64)i * m.x_h;
            const T* const tap_row = taps + j * m.h.tap_step * m.f_h;
            if (inside) add_row<true>(row, tap_row, z0, w, m, sum);
            else add_row<false>(row, tap_row, z0, w, m, sum);
        }
        const C add = m.has_bias != 0 ? widen(bias[channel * m.bias_step]) : C(0);
        T* const to = out + ((n * channels + channel) * m.h.out + y) * m.w.out;
        UNROLL
        for (u32 r = 0; r < RUN; r++) {
            // Beyond the last position the product may overflow.
            const u64 position = run * RUN + r, z = position * m.w.up + w_rest;
            if (position < columns && z < m.w.out) to[z] = narrow<T>(m.has_bias != 0 ? sum[r] + add : sum[r]);
        }
    }
}

} // namespace hipstack
