//! Constants of the target, for `if constexpr` in kernels.
//
// ON_AMD, ON_NVIDIA and ON_HOST (platform.hpp, 0 or 1) and WAVE_SIZE (set by the build) are used the same way. HAS_MMA and HALVES are
// macros, because definitions and launch bounds depend on them. Included by portable.hpp.
#pragma once

// Whether the chip has matrix units that mma.hpp supports. src/matrix_units.rs has the same rule by architecture name. The host emulates
// NVIDIA's units, so that kernels for them can be tested.
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

// Whether there are packed instructions for two 16-bit floats in a word. NVIDIA's instructions can address the halves of a register.
#if ON_NVIDIA && __CUDA_ARCH__ >= 800
#define HAS_HALVES 1
#else
#define HAS_HALVES 0
#endif
// Whether the unit's elements are widened, narrowed and compared by these instructions.
#if HAS_HALVES && (defined(DTYPE_f16) || defined(DTYPE_bf16))
#define HALVES 1
#else
#define HALVES 0
#endif

namespace hipstack {

// Greatest block size. All kernels are compiled for it.
static constexpr unsigned MAX_BLOCK = 256;
// Bytes of the widest memory access of a thread.
static constexpr unsigned ACCESS = 16;
// Shared memory of a block if four blocks share it. AMD's gfx9 (64 lanes) has 64 KiB, gfx950 more; all others have at least 96 KiB.
#if ON_AMD && WAVE_SIZE == 64
static constexpr unsigned SHARED_AT_4_BLOCKS = 16 << 10;
#else
static constexpr unsigned SHARED_AT_4_BLOCKS = 24 << 10;
#endif
// Whether there is an instruction for a fused multiply-add.
#if !ON_HOST || defined(__FMA__) || defined(__aarch64__)
static constexpr bool HAS_FMA = true;
#else
static constexpr bool HAS_FMA = false;
#endif
// Matrix-unit layout: lanes that multiply together, rows of which a lane holds sums, sums that it holds of each row, and elements that it
// holds of a 16 by 16 operand.
static constexpr unsigned MMA_GROUP = ON_AMD ? 64 : 32, MMA_HELD = ON_AMD ? 1 : 2, MMA_EACH = 4, MMA_NUMBERS = ON_AMD ? 4 : 8;

} // namespace hipstack
