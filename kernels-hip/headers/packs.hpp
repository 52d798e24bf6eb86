//! Elements that move as one, up to 16 bytes.
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

// N elements that move as one, 16 bytes at most.
template <class T, u32 N> struct alignas(sizeof(T) * N) Pack { T at[N]; };
template <class T, u32 N> DEVICE bool is_aligned(const T* p) { return (u64)p % (sizeof(T) * N) == 0; }
template <u32 N, class T> DEVICE Pack<T, N> load_pack(const T* p) { return *reinterpret_cast<const Pack<T, N>*>(p); }
template <u32 N, class T> DEVICE void store_pack(T* p, const Pack<T, N>& v) { *reinterpret_cast<Pack<T, N>*>(p) = v; }
// To global memory. By an instruction on NVIDIA: nvcc often writes a pack that it has taken apart element by element.
template <u32 N, class T> DEVICE void write_pack(T* p, const Pack<T, N>& v) {
#if ON_NVIDIA
    if constexpr (sizeof(v) == 16) {
        u32 at[4];
        memcpy(at, &v, sizeof(v));
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "r"(at[0]), "r"(at[1]), "r"(at[2]),
                     "r"(at[3]) : "memory");
        return;
    }
#endif
    store_pack(p, v);
}

} // namespace hipstack
