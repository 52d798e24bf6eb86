//! The target as constants, which kernels ask with `if constexpr`.
//
// So do ON_AMD, ON_NVIDIA and ON_HOST (platform.hpp), which are 0 or 1, and WAVE_SIZE, which the build sets. HAS_MMA and HALVES are macros, since
// what is defined and what bounds a kernel has depend on them. Included by portable.hpp.
#pragma once

// Whether there are matrix units that mma.hpp knows; src/matrix_units.rs says the same by names. The host does as NVIDIA's do, to check what is
// built on them.
#if ON_AMD
#if defined(__gfx942__) || defined(__gfx950__)
#define HAS_MMA 1
#else
#define HAS_MMA 0
#endif
#elif ON_NVIDIA && defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define HAS_MMA 0
#else
#define HAS_MMA 1
#endif

// Whether instructions take a word for two floats of 16 bits: NVIDIA's address halves of registers.
#if ON_NVIDIA && __CUDA_ARCH__ >= 800
#define HAS_HALVES 1
#else
#define HAS_HALVES 0
#endif
// Whether the unit's elements are taken apart, put together and compared so.
#if HAS_HALVES && (defined(DTYPE_f16) || defined(DTYPE_bf16))
#define HALVES 1
#else
#define HALVES 0
#endif

namespace hipstack {

// The most threads of a block, for which all kernels are compiled.
static constexpr unsigned MAX_BLOCK = 256;
// Bytes that a thread reads or writes at once, at most.
static constexpr unsigned ACCESS = 16;
// A quarter of the shared memory that four SIMDs have together: AMD's gfx9, which have 64 lanes, have 64 KiB (gfx950 more), all others 96 and more.
#if ON_AMD && WAVE_SIZE == 64
static constexpr unsigned SHARED_AT_4_BLOCKS = 16 << 10;
#else
static constexpr unsigned SHARED_AT_4_BLOCKS = 24 << 10;
#endif
// Whether there is an instruction for a product and a sum that are rounded once.
#if !ON_HOST || defined(__FMA__) || defined(__aarch64__)
static constexpr bool HAS_FMA = true;
#else
static constexpr bool HAS_FMA = false;
#endif
// A product by the matrix units: lanes that multiply together, rows of which a lane holds sums, sums of each of these rows, and numbers that a
// lane has of a factor of 16 by 16.
static constexpr unsigned MMA_GROUP = ON_AMD ? 64 : 32, MMA_HELD = ON_AMD ? 1 : 2, MMA_EACH = 4, MMA_NUMBERS = ON_AMD ? 4 : 8;

} // namespace hipstack
