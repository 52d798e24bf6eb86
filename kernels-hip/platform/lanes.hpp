//! Communication between the lanes of a wave without memory.
//
// A group is 32 threads, whatever the wave size. All threads of the group must call these functions; for any_lane and sync_wave all threads
// of the wave. Host builds of units without warp operations leave them out. Included by portable.hpp.
#pragma once

#if defined(WAVE_SIZE) && WAVE_SIZE != 0
namespace hipstack {

static_assert(WAVE_SIZE == 32 || WAVE_SIZE == 64, "WAVE_SIZE is 32 or 64");

// shuffle_xor:  the value of the lane whose number in the group differs in the bits of mask.
// group_ballot: a mask of the group's threads whose `yes` is true.
// match_bit:    removes from `same` the threads whose bit `bit` of `digit` differs from the caller's. On NVIDIA by 3 instructions; nvcc
//               would generate 7.
// any_lane:     whether `so` is true in any lane of the wave.
// sync_wave:    a barrier for the wave; shared-memory writes before it are visible to the wave's lanes behind it.
#if ON_NVIDIA
template <class T> DEVICE T shuffle_xor(T v, u32 mask) { return __shfl_xor_sync(0xffffffffu, v, (int)mask, 32); }
DEVICE u32 group_ballot(bool yes) { return __ballot_sync(0xffffffffu, yes); }
DEVICE void match_bit(u32& same, u32 digit, u32 bit) {
    asm volatile("{.reg .pred p; .reg .b32 v; and.b32 v, %1, %2; setp.ne.u32 p, v, 0; vote.sync.ballot.b32 v, p, 0xffffffff;"
                 " @!p not.b32 v, v; and.b32 %0, %0, v;}" : "+r"(same) : "r"(digit), "r"(1u << bit));
}
DEVICE bool any_lane(bool so) { return __any_sync(0xffffffffu, so); }
#else
template <class T> DEVICE T shuffle_xor(T v, u32 mask) { return __shfl_xor(v, (int)mask, 32); }
DEVICE u32 group_ballot(bool yes) { return (u32)(__ballot(yes) >> (threadIdx.x % WAVE_SIZE & ~31u)); }
DEVICE void match_bit(u32& same, u32 digit, u32 bit) {
    const bool set = (digit >> bit & 1u) != 0;
    const u32 vote = group_ballot(set);
    same &= set ? vote : ~vote;
}
DEVICE bool any_lane(bool so) { return __any(so); }
#endif
#if ON_AMD
DEVICE void sync_wave() {
    __builtin_amdgcn_fence(__ATOMIC_RELEASE, "wavefront");
    __builtin_amdgcn_wave_barrier();
    __builtin_amdgcn_fence(__ATOMIC_ACQUIRE, "wavefront");
}
#else
DEVICE void sync_wave() { __syncwarp(); }
#endif

} // namespace hipstack
#endif
