//! Numbers of which compilers are not to know where they come from: each is in a register of its own from here on.
//
// anew:      the same number.
// held_back: the same bits, not known before `after` is: words taken apart any sooner would fill registers while a block waits. Only NVIDIA's
//            compilers are told, since only there words are taken apart (HALVES).
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
