//! Convolutions with many output channels in f32 arithmetic: forward and transposed, with groups and bias.
//
// conv_wide_<channels>: a block computes `channels` output channels at 8192 / channels positions (conv_tiles.hpp), a thread 8 by 8 of them.
// The loads of the next slice of taps are in flight while a slice is multiplied; shared memory is double-buffered.
// Launch: one-dimensional, block exactly 128; blocks stride over the tiles, so any grid is right.
//
// Products are added one by one in the order of the taps. The bias is added to the sum, which is rounded once. Positions outside the input
// count as zeros. The output is tight, 16 bytes aligned, and overlaps no input; inputs may have any strides.
#include "portable.hpp"
#include "conv_wide.hpp"

namespace hipstack {

template <u32 CHANNELS, u32 POSITIONS> DEVICE void convolve(const T* x, const T* f, const T* bias, T* out, const ConvArgs& given) {
    typedef wide::Slices<CHANNELS, POSITIONS> Slices;
    typedef Tiles<CHANNELS, POSITIONS> AllTiles;
    SHARED_ARRAY(0, Slices, slices, 1);
    SHARED_ARRAY(1, AllTiles, tiles, 1);
    ARGUMENTS(ConvArgs, m, given);
    each_tile(*tiles, m, [&] { wide::convolve_tile(*slices, *tiles, x, f, bias, out, m); });
}

#define WIDE(channels)                                                                                                   \
    TILE_KERNEL(PASTE4(conv_wide_, channels, _, DTYPE), const T* x, const T* f, const T* bias, T* out, ConvArgs m) {          \
        convolve<channels, 8192 / channels>(x, f, bias, out, m);                                                         \
    }
WIDE(64)
WIDE(128)

} // namespace hipstack
