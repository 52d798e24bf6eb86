//! Loads from global memory that nobody writes while the kernel runs.
//
// load_read_only: four words, 16 bytes aligned. On NVIDIA they bypass the multiprocessor's own cache, which is left for what is read again and again;
// lanes of a warp that read the same bytes share the load.
// load_half_read_only, load_word_read_only: 2 and 4 bytes, aligned.
// nvcc sees by these that the memory is global, which it does not where a pointer was chosen among several.
//
// Included after portable.hpp.
#pragma once

namespace hipstack {

#if ON_NVIDIA
DEVICE Pack<u32, 4> load_read_only(const u32* p) {
    Pack<u32, 4> v;
    asm("ld.global.nc.L1::no_allocate.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(v.at[0]), "=r"(v.at[1]), "=r"(v.at[2]), "=r"(v.at[3])
        : "l"(__cvta_generic_to_global(p)));
    return v;
}
DEVICE u32 load_half_read_only(const u16* p) {
    u16 v;
    asm("ld.global.nc.u16 %0, [%1];" : "=h"(v) : "l"(__cvta_generic_to_global(p)));
    return v;
}
DEVICE u32 load_word_read_only(const u32* p) {
    u32 v;
    asm("ld.global.nc.u32 %0, [%1];" : "=r"(v) : "l"(__cvta_generic_to_global(p)));
    return v;
}
#else
DEVICE Pack<u32, 4> load_read_only(const u32* p) { return load_pack<4>(p); }
DEVICE u32 load_half_read_only(const u16* p) { return *p; }
DEVICE u32 load_word_read_only(const u32* p) { return *p; }
#endif

} // namespace hipstack
