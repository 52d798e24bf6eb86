//! What threads that run together exchange without memory.
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

#if defined(WAVE_SIZE) && WAVE_SIZE != 0
static_assert(WAVE_SIZE == 32 || WAVE_SIZE == 64, "WAVE_SIZE is 32 or 64");

// The value of the lane whose number differs in the bits of mask, within groups of 32. All lanes of the group must call it.
template <class T> DEVICE T shuffle_xor(T v, u32 mask) {
#if ON_NVIDIA
    return __shfl_xor_sync(0xffffffffu, v, (int)mask, 32);
#else
    return __shfl_xor(v, (int)mask, 32);
#endif
}
#endif

} // namespace hipstack
