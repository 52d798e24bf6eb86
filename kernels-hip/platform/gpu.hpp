//! What kernels ask about the GPU that they are compiled for, as constants.
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

// The most threads of a block, for which all kernels are compiled.
static constexpr unsigned MAX_BLOCK = 256;
// A quarter of the shared memory that four SIMDs have together: AMD's gfx9, which have 64 lanes, have 64 KiB, all others 96 and more.
#if ON_AMD && WAVE_SIZE == 64
static constexpr unsigned SHARED_OF_A_QUARTER = 16 << 10;
#else
static constexpr unsigned SHARED_OF_A_QUARTER = 24 << 10;
#endif

} // namespace hipstack
