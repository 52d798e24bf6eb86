//! Optimisation barriers for a value in a register.
//
// opaque:       hides where a per-lane value comes from, so that the compiler recomputes what depends on it and keeps registers free.
// opaque_after: the same bits, but not available before `after`. Words unpacked earlier would occupy registers while the block waits. It
// has an effect on NVIDIA only, where words are unpacked (HALVES).
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

#if ON_NVIDIA
DEVICE u32 opaque(u32 x) {
    asm volatile("" : "+r"(x));
    return x;
}
DEVICE u32 opaque_after(u32 word, f32 after) {
    asm("" : "+r"(word) : "f"(after));
    return word;
}
#elif ON_AMD
DEVICE u32 opaque(u32 x) {
    asm volatile("" : "+v"(x));
    return x;
}
DEVICE u32 opaque_after(u32 word, f32) { return word; }
#else
DEVICE u32 opaque(u32 x) { return x; }
DEVICE u32 opaque_after(u32 word, f32) { return word; }
#endif

} // namespace hipstack
