//! 16-byte memory accesses that compilers would split, and copies to shared memory.
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

// Packs have 16 bytes and are 16 bytes aligned, unless noted.
// write_pack: stores to global memory; takes smaller packs, too. nvcc often splits the store of a pack whose elements were computed
// separately.
// load_line, store_line: load and store a pack of words in global memory. nvcc would store the words one by one, which takes as long as
// four lines. AMD's compilers (clang 22) would merge the first word with the first element of a partial line, and access 4 and 12 bytes.
// copy_16: copies 16 bytes to shared memory, or zeros where `there` is false; `from` is not read then. On NVIDIA the copy is asynchronous
// until copies_arrive. A barrier behind that makes it visible to the other threads.
#if ON_NVIDIA
DEVICE u32 shared_address(const void* p) { return (u32)__cvta_generic_to_shared(p); }

template <u32 N, class T> DEVICE void write_pack(T* p, const Pack<T, N>& v) {
    if constexpr (sizeof(v) == 16) {
        u32 at[4];
        memcpy(at, &v, sizeof(v));
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(__cvta_generic_to_global(p)), "r"(at[0]), "r"(at[1]), "r"(at[2]),
                     "r"(at[3]) : "memory");
    } else {
        store_pack(p, v);
    }
}
template <class Line, class T> DEVICE Line load_line(const T* p) { return *reinterpret_cast<const Line*>(p); }
template <class T, class W, u32 WORDS> DEVICE void store_line(T* p, const Pack<W, WORDS>& v) {
    const u64 to = __cvta_generic_to_global(p);
    if constexpr (WORDS == 4)
        asm volatile("st.global.v4.b32 [%0], {%1, %2, %3, %4};" ::"l"(to), "r"(v.at[0]), "r"(v.at[1]), "r"(v.at[2]), "r"(v.at[3]) : "memory");
    else
        asm volatile("st.global.v2.b64 [%0], {%1, %2};" ::"l"(to), "l"(v.at[0]), "l"(v.at[1]) : "memory");
}
template <class T> DEVICE void copy_16(T* to, const T* from, bool there) {
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(shared_address(to)), "l"(__cvta_generic_to_global(from)),
                 "r"(there ? 16 : 0) : "memory");
}
DEVICE void copies_arrive() { asm volatile("cp.async.wait_all;" ::: "memory"); }
#else
template <u32 N, class T> DEVICE void write_pack(T* p, const Pack<T, N>& v) { store_pack(p, v); }
template <class T> DEVICE void copy_16(T* to, const T* from, bool there) {
    Pack<T, 16 / sizeof(T)> pack = {};
    if (there) pack = load_pack<16 / sizeof(T)>(from);
    store_pack<16 / sizeof(T)>(to, pack);
}
DEVICE void copies_arrive() {}
#endif
#if ON_AMD
template <class Line, class T> DEVICE Line load_line(const T* p) {
    typedef u32 Whole __attribute__((ext_vector_type(4)));
    const Whole whole = *reinterpret_cast<const Whole*>(p);
    Line line;
    memcpy(&line, &whole, sizeof(line));
    return line;
}
template <class Line, class T> DEVICE void store_line(T* p, const Line& v) {
    typedef u32 Whole __attribute__((ext_vector_type(4)));
    Whole whole;
    memcpy(&whole, &v, sizeof(whole));
    *reinterpret_cast<Whole*>(p) = whole;
}
#elif ON_HOST
template <class Line, class T> DEVICE Line load_line(const T* p) { return *reinterpret_cast<const Line*>(p); }
template <class Line, class T> DEVICE void store_line(T* p, const Line& v) { *reinterpret_cast<Line*>(p) = v; }
#endif

} // namespace hipstack
