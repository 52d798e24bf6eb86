//! Convolution as a matrix product in tiles of many output channels: shared by `conv_wide`, `conv_split` and `conv_mma`.
//
// A block computes CHANNELS output channels of one group at POSITIONS output positions of one phase (conv.hpp), a slice of taps at a time.
// A tap is an input channel, a row and a column of the filter. A filter has at most 64 rows times columns, and a tile fewer than 2^31 taps.
//
// Included after portable.hpp.
#pragma once
#include "conv.hpp"

namespace hipstack {

static constexpr u32 BLOCK = 128; // block size, exactly

// Three blocks share a multiprocessor of NVIDIA's and its registers.
#define TILE_KERNEL(...) KERNEL_OF(128, 3, __VA_ARGS__)

// The block's tile: channels of a group from `top` on, positions from `left` on.
struct Tile {
    u64 top, left, group, h_rest, w_rest;
    Phase h, w;
    u32 terms; // taps of each output
};
// The grid of tiles and the block's current tile. It lies in shared memory, because its fields exceed the registers.
template <u32 CHANNELS, u32 POSITIONS> struct Tiles {
    u64 down, across, rows, columns, positions, count;
    Tile tile;
    // Called by one thread.
    METHOD void begin(const ConvArgs& m) {
        rows = hipstack::positions(m.h), columns = hipstack::positions(m.w), positions = m.batch * rows * columns;
        down = (m.out_channels + CHANNELS - 1) / CHANNELS, across = (positions + POSITIONS - 1) / POSITIONS;
        count = down * across * m.groups * phases(m.h) * phases(m.w);
    }
    METHOD void take(u64 t, const ConvArgs& m) {
        u64 rest = divide(t, down, tile.top);
        rest = divide(rest, across, tile.left);
        rest = divide(rest, m.groups, tile.group);
        tile.h_rest = divide(rest, phases(m.w), tile.w_rest);
        tile.top *= CHANNELS, tile.left *= POSITIONS;
        tile.h = phase_of(m.h, tile.h_rest), tile.w = phase_of(m.w, tile.w_rest);
        meet(m.in_channels);
    }
    METHOD void meet(u64 in_channels) { tile.terms = (u32)(in_channels * tile.h.count * tile.w.count); }
    // The image, row and column of a position.
    METHOD u64 image(u64 position, u64& row, u64& column) const { return divide(divide(position, columns, column), rows, row); }
};

// Runs compute() for each of the block's tiles, with `tiles.tile` set. All threads call it.
template <class Tiles, class Compute> DEVICE void each_tile(Tiles& tiles, const ConvArgs& m, Compute compute) {
    if (threadIdx.x == 0) tiles.begin(m);
    __syncthreads();
    for (u64 t = blockIdx.x; t < tiles.count; t += gridDim.x) {
        if (threadIdx.x == 0) tiles.take(t, m);
        __syncthreads();
        compute();
        __syncthreads();
    }
}

// ---- inputs of a position --------------------------------------------------------------------------------------------
// The address of the input of a position's first tap, which may be outside of the image, and a bit mask of the filter's taps that are
// inside.
struct Position { u64 from, seen; };

// A bit mask of the taps i of an axis for which start + i * move is in 0..length.
DEVICE u64 seen_of(i64 start, const Phase& phase, u64 length) {
    u64 seen = 0;
    for (u32 i = 0; i < phase.count; i++, start += phase.move) seen |= (u64)((u64)start < length) << i;
    return seen;
}
template <class Tiles> DEVICE Position position_of(u64 position, const Tiles& tiles, const ConvArgs& m) {
    const Tile& tile = tiles.tile;
    if (position >= tiles.positions) return Position{0, 0};
    u64 row, column;
    const u64 image = tiles.image(position, row, column);
    i64 y = (i64)row * m.h.step + tile.h.start;
    const i64 x = (i64)column * m.w.step + tile.w.start;
    Position out = {image * m.x_n + tile.group * m.in_channels * m.x_c + (u64)y * m.x_h + (u64)x * m.x_w, 0};
    const u64 columns = seen_of(x, tile.w, m.w.in);
    for (u32 i = 0; i < tile.h.count; i++, y += tile.h.move) {
        if ((u64)y < m.h.in) out.seen |= columns << (i * (u32)tile.w.count);
    }
    return out;
}

// Offset of a tap from the position's first tap, and its bit in Position::seen. Taps beyond the last have no bit.
struct alignas(16) Tap { i64 x; u64 bit; };

// The offset of tap `number` of a tile in the input, and in the filters.
DEVICE void find_tap(u32 number, Tap& tap, u64& filter, const Tile& tile, const ConvArgs& m) {
    tap = Tap{0, 0}, filter = 0;
    if (number >= tile.terms) return;
    const u32 width = (u32)tile.w.count, plane = (u32)tile.h.count * width;
    const u32 channel = number / plane, at = number - channel * plane, row = at / width, column = at - row * width;
    const u64 h = row * (u64)tile.h.move, w = column * (u64)tile.w.move;
    tap = Tap{(i64)(channel * m.x_c + h * m.x_h + w * m.x_w), 1ull << at};
    const u64 y = tile.h.first + row * m.h.tap_step, x = tile.w.first + column * m.w.tap_step;
    filter = channel * m.f_c + y * m.f_h + x * m.f_w;
}

// ---- slices ----------------------------------------------------------------------------------------------------------
// The taps of two slices (double buffering).
template <u32 SLICE> struct Taps {
    Tap taps[2][SLICE];
    u64 filter_offsets[2][SLICE];
};

// Iterates over a tile's taps in slices, with the loads of the next slice in flight while a slice is multiplied. load(begin, half) loads
// the slice that begins at tap `begin`, whose taps are in half `half` of s; multiply(half) and store(half) use half `half` of shared
// memory.
template <u32 SLICE, class Load, class Multiply, class Store>
DEVICE void over_slices(Taps<SLICE>& s, const Tile& tile, const ConvArgs& m, Load load, Multiply multiply, Store store) {
    const u32 terms = tile.terms, lane = threadIdx.x % 32;
    for (u32 begin = 0, half = 1; begin < terms + 2 * SLICE; begin += SLICE, half ^= 1u) {
        // Pipeline: find the taps of the slice at `begin`, load the slice before it, and multiply the one before that. Groups of 32 take
        // turns in finding taps.
        if (begin / SLICE % (BLOCK / 32) == threadIdx.x / 32 && lane < SLICE)
            find_tap(begin + lane, s.taps[half ^ 1u][lane], s.filter_offsets[half ^ 1u][lane], tile, m);
        const bool more = begin > 0 && begin < terms + SLICE;
        if (more) load(begin - SLICE, half);
        if (begin > SLICE) multiply(half ^ 1u);
        if (more) store(half);
        __syncthreads();
    }
}

// ---- outputs ---------------------------------------------------------------------------------------------------------
// Offsets of N neighbouring positions in the first channel of the tile's group. The first position is a multiple of N.
template <u32 N> struct Run {
    u64 at[N];
    bool there[N], whole; // whole: contiguous and aligned
    template <class Tiles> METHOD Run(u64 first, const Tiles& tiles, const ConvArgs& m) {
        const Tile& tile = tiles.tile;
        const u64 plane = m.h.out * m.w.out;
        whole = m.h.up == 1 && m.w.up == 1 && plane % N == 0;
        UNROLL
        for (u32 j = 0; j < N; j++) {
            if (j > 0 && whole) {
                at[j] = at[0] + j, there[j] = there[0];
                continue;
            }
            u64 row, column;
            const u64 image = tiles.image(first + j, row, column);
            const u64 y = row * m.h.up + tile.h_rest, x = column * m.w.up + tile.w_rest;
            there[j] = first + j < tiles.positions && y < m.h.out && x < m.w.out;
            at[j] = (image * m.groups + tile.group) * m.out_channels * plane + y * m.w.out + x;
        }
    }
    // Writes value(j) for each position j, at offset `beyond` from the first channel.
    template <class Value> METHOD void write(T* out, u64 beyond, Value value) const {
        if (whole) {
            if (!there[0]) return;
            Pack<T, N> pack;
            UNROLL
            for (u32 j = 0; j < N; j++) pack.at[j] = value(j);
            write_pack<N>(out + beyond + at[0], pack);
        } else {
            UNROLL
            for (u32 j = 0; j < N; j++) {
                if (there[j]) out[beyond + at[j]] = value(j);
            }
        }
    }
};

} // namespace hipstack
