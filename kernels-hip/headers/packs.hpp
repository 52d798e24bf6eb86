//! Packs: aligned groups of elements, up to 16 bytes, that are loaded and stored at once. memory.hpp has accesses that compilers would
//! split.
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

// At most 16 bytes.
template <class T, u32 N> struct alignas(sizeof(T) * N) Pack { T at[N]; };
template <class T, u32 N> DEVICE bool is_aligned(const T* p) { return (u64)p % (sizeof(T) * N) == 0; }
template <u32 N, class T> DEVICE Pack<T, N> load_pack(const T* p) { return *reinterpret_cast<const Pack<T, N>*>(p); }
template <u32 N, class T> DEVICE void store_pack(T* p, const Pack<T, N>& v) { *reinterpret_cast<Pack<T, N>*>(p) = v; }
// Pack p of a tight array, or N copies of a single element.
template <u32 N, class T> DEVICE Pack<T, N> load_or_repeat(const T* a, bool tight, u64 p) {
    if (tight) return load_pack<N>(a + p * N);
    Pack<T, N> out;
    UNROLL
    for (u32 j = 0; j < N; j++) out.at[j] = *a;
    return out;
}

} // namespace hipstack
