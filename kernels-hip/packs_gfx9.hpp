//! What keeps walks over packs in few registers on gfx9, and is nothing elsewhere.
//
// Included by elementwise.hip, after portable.hpp. Eight waves a SIMD leave 64 vector registers to a thread: an order of elements, and
// numbers computed where they are needed, that the compiler would not choose.
namespace hipstack {

// In strided walks of these dtypes elements in turn leave registers for the addresses: before element j of a pack is computed with, and after
// its result is made. Not where elements are only moved or written: taking a place in turn would read what is written over.
#if ON_GFX9 && (defined(DTYPE_f16) || defined(DTYPE_f64) || (OLD_HIPCC && defined(DTYPE_f8e4m3)))
struct Same;
struct Constant;
template <class F> static constexpr bool COMPUTES = true;
template <> constexpr bool COMPUTES<Same> = false;
template <> constexpr bool COMPUTES<Constant> = false;
#define BEFORE(in, j) if constexpr (COMPUTES<F>) GROUP_BEGINS(in, j)
#define AFTER(out, j) if constexpr (COMPUTES<F>) GROUP_ENDS(out, j)
#else
#define BEFORE(in, j)
#define AFTER(out, j)
#endif
// In tight ones of two inputs hipcc 5.2 needs no more than the first half of a pack of f16 before the second.
#if OLD_HIPCC && ON_GFX9 && defined(DTYPE_f16)
#define AFTER_HALF(out, j) if constexpr (COMPUTES<F>) { if (j == N / 2 - 1) GROUP_ENDS(out, j) }
#else
#define AFTER_HALF(out, j)
#endif
// A pack's number as a new one on gfx9: what follows from it is computed where this stands rather than kept. A function that gives it back
// costs comparisons of gfx11 an instruction.
#if ON_GFX9
#define PACK_ANEW(p) asm volatile("" : "+v"(p));
#else
#define PACK_ANEW(p)
#endif

} // namespace hipstack
