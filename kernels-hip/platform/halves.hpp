//! Words of two 16-bit floats of type H: packing, unpacking, conversion, minimum and maximum.
//
// The low half is the first element. Kernels work on words where HALVES (gpu.hpp) says that there are instructions for them. Operands of
// matrix units are packed this way on every target. Included by portable.hpp.
#pragma once

namespace hipstack {

DEVICE u32 join_halves(u16 low, u16 high) { return (u32)low | (u32)high << 16; }
template <class H> DEVICE H low_of(u32 word) {
    H out;
    out.bits = (u16)word;
    return out;
}
template <class H> DEVICE H high_of(u32 word) {
    H out;
    out.bits = (u16)(word >> 16);
    return out;
}

// widen_halves, narrow_halves: widen and narrow for both halves.
// extreme_halves: the maximum of each half, or with LEAST the minimum. Of NaN and a number the result is the number, or with NAN_WINS the
// NaN. -0 is less than +0.
#if HAS_HALVES
template <class H> static constexpr bool IS_F16 = false;
template <> constexpr bool IS_F16<f16> = true;

template <class H, class C> DEVICE void widen_halves(u32 word, C& low, C& high) {
    if constexpr (IS_F16<H>) {
        asm("{.reg .b16 a, b; mov.b32 {a, b}, %2; cvt.f32.f16 %0, a; cvt.f32.f16 %1, b;}" : "=f"(low), "=f"(high) : "r"(word));
    } else {
        low = from_bits(word << 16);
        high = from_bits(word & 0xffff0000u);
    }
}
template <class H> DEVICE u32 narrow_halves(f32 low, f32 high) {
    u32 word;
    if constexpr (IS_F16<H>) asm("cvt.rn.f16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    else asm("cvt.rn.bf16x2.f32 %0, %1, %2;" : "=r"(word) : "f"(high), "f"(low));
    return word;
}
template <class H, bool LEAST, bool NAN_WINS> DEVICE u32 extreme_halves(u32 a, u32 b) {
    static_assert(NAN_WINS || !LEAST, "nobody asks for the least number");
    u32 out;
    if constexpr (IS_F16<H>) {
        if constexpr (LEAST) asm("min.NaN.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
        else if constexpr (NAN_WINS) asm("max.NaN.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
        else asm("max.f16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    } else {
        if constexpr (LEAST) asm("min.NaN.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
        else if constexpr (NAN_WINS) asm("max.NaN.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
        else asm("max.bf16x2 %0, %1, %2;" : "=r"(out) : "r"(a), "r"(b));
    }
    return out;
}
#else
template <class H, class C> DEVICE void widen_halves(u32 word, C& low, C& high) {
    low = widen(low_of<H>(word));
    high = widen(high_of<H>(word));
}
template <class H> DEVICE u32 narrow_halves(f32 low, f32 high) { return join_halves(narrow<H>(low).bits, narrow<H>(high).bits); }
template <class H, bool LEAST, bool NAN_WINS> DEVICE u32 extreme_halves(u32 a, u32 b) {
    const auto one = [](H x, H y) {
        const f32 v = widen(x), w = widen(y), extreme = LEAST ? minimum(v, w) : maximum(v, w);
        return narrow<H>(NAN_WINS || (v == v && w == w) ? extreme : v != v ? w : v).bits;
    };
    return join_halves(one(low_of<H>(a), low_of<H>(b)), one(high_of<H>(a), high_of<H>(b)));
}
#endif

} // namespace hipstack
