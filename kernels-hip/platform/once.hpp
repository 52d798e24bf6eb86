//! Loads of what a kernel reads once and no one writes meanwhile.
//
// load_once: four words from global memory, 16 bytes aligned. On NVIDIA they take no line of the multiprocessor's own cache, which is left to
// what is read again. nvcc also sees that they are in global memory, which it does not where a pointer was chosen among several.
// load_half_once, load_word_once: 2 and 4 bytes, aligned.
//
// Included after portable.hpp.
#pragma once

namespace hipstack {

#if ON_NVIDIA
DEVICE Pack<u32, 4> load_once(const u32* p) {
    Pack<u32, 4> v;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.at[0]), "=r"(v.at[1]), "=r"(v.at[2]), "=r"(v.at[3])
        : "l"(__cvta_generic_to_global(p)));
    return v;
}
DEVICE u32 load_half_once(const u16* p) {
    u16 v;
    asm("ld.global.nc.u16 %0, [%1];" : "=h"(v) : "l"(__cvta_generic_to_global(p)));
    return v;
}
DEVICE u32 load_word_once(const u32* p) {
    u32 v;
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)));
    return v;
}
#else
DEVICE Pack<u32, 4> load_once(const u32* p) { return load_pack<4>(p); }
DEVICE u32 load_half_once(const u16* p) { return *p; }
DEVICE u32 load_word_once(const u32* p) { return *p; }
#endif

} // namespace hipstack
