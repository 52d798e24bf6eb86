//! e^x for x that are not great, and logarithms of finite numbers that are not negative and of NaNs, of f64 on AMD.
//
// Included by softmax.hip. What AMD's library computes, step by step and bit by bit, without its choices for other arguments, which never come.
// For gfx9 compilers keep the library's constants in vector registers, two each, and copy them before each step; here they lie in scalar
// ones, of which a step can read one.
namespace hipstack {

template <u64 BITS> DEVICE f64 scalar_constant() {
    u32 low, high;
    asm("s_mov_b32 %0, %1" : "=s"(low) : "i"((u32)BITS));
    asm("s_mov_b32 %0, %1" : "=s"(high) : "i"((u32)(BITS >> 32)));
    return from_bits((u64)high << 32 | low);
}
// e^x = 2^n e^r, of which a polynomial gives the latter.
template <> struct Exponential<f64> {
    f64 log2_e, ln2, ln2_rest, terms[10];
    METHOD Exponential()
        : log2_e(scalar_constant<0x3ff71547652b82feull>()), ln2(scalar_constant<0x3fe62e42fefa39efull>()),
          ln2_rest(scalar_constant<0x3c7abc9e3b39803full>()),
          terms{scalar_constant<0x3e5ade156a5dcb37ull>(), scalar_constant<0x3e928af3fca7ab0cull>(), scalar_constant<0x3ec71dee623fde64ull>(),
                scalar_constant<0x3efa01997c89e6b0ull>(), scalar_constant<0x3f2a01a014761f6eull>(), scalar_constant<0x3f56c16c1852b7b0ull>(),
                scalar_constant<0x3f81111111122322ull>(), scalar_constant<0x3fa55555555502a1ull>(), scalar_constant<0x3fc5555555555511ull>(),
                scalar_constant<0x3fe000000000000bull>()} {}
    METHOD f64 of(f64 x) const {
        const f64 n = __builtin_rint(x * log2_e);
        const f64 r = __builtin_fma(-n, ln2_rest, __builtin_fma(-n, ln2, x));
        f64 sum = terms[0];
        UNROLL
        for (u32 i = 1; i < 10; i++) sum = __builtin_fma(r, sum, terms[i]);
        sum = __builtin_fma(r, __builtin_fma(r, sum, 1.0), 1.0);
        const f64 power = __builtin_amdgcn_ldexp(sum, (i32)n);
        return x < -1075.0 ? 0.0 : power;
    }
};

// A number as the sum of two, of which the second is within half a last place of the first.
struct Double64 { f64 high, low; };
// a + b where a is the greater, and where either may be.
DEVICE Double64 sum_of_ordered(f64 a, f64 b) {
    const f64 high = a + b;
    return Double64{high, b - (high - a)};
}
DEVICE Double64 sum_of(f64 a, f64 b) {
    const f64 high = a + b, of_b = high - a;
    return Double64{high, (a - (high - of_b)) + (b - of_b)};
}
DEVICE Double64 sum_of(Double64 a, Double64 b) {
    const Double64 high = sum_of(a.high, b.high), low = sum_of(a.low, b.low);
    const Double64 sum = sum_of_ordered(high.high, high.low + low.high);
    return sum_of_ordered(sum.high, low.low + sum.low);
}
// (x - 1) / (x + 1).
DEVICE Double64 ratio_about_one(f64 x) {
    const f64 above = x - 1.0, below = x + 1.0, rest = x - (below - 1.0);
    f64 inverse = __builtin_amdgcn_rcp(below);
    inverse = __builtin_fma(__builtin_fma(-below, inverse, 1.0), inverse, inverse);
    inverse = __builtin_fma(__builtin_fma(-below, inverse, 1.0), inverse, inverse);
    const f64 first = above * inverse, back = below * first;
    const f64 back_rest = __builtin_fma(first, rest, __builtin_fma(first, below, -back));
    const Double64 product = sum_of_ordered(back, back_rest);
    const f64 left = above - product.high;
    const f64 second = inverse * (left + ((above - left - product.high) - product.low));
    return sum_of_ordered(first, second);
}
template <> DEVICE f64 log_of<f64>(f64 x) {
    f64 mantissa = __builtin_amdgcn_frexp_mant(x);
    i32 twos = __builtin_amdgcn_frexp_exp(x);
    const bool small = mantissa < scalar_constant<0x3fe5555555555555ull>();
    mantissa *= small ? 2.0 : 1.0;
    twos -= small ? 1 : 0;
    const Double64 ratio = ratio_about_one(mantissa);
    const f64 square = ratio.high * ratio.high;
    f64 sum = __builtin_fma(square, scalar_constant<0x3fc3ab76bf559e2bull>(), scalar_constant<0x3fc385386b47b09aull>());
    sum = __builtin_fma(square, sum, scalar_constant<0x3fc7474dd7f4df2eull>());
    sum = __builtin_fma(square, sum, scalar_constant<0x3fcc71c016291751ull>());
    sum = __builtin_fma(square, sum, scalar_constant<0x3fd249249b27acf1ull>());
    sum = __builtin_fma(square, sum, scalar_constant<0x3fd99999998ef7b6ull>());
    sum = __builtin_fma(square, sum, scalar_constant<0x3fe5555555555780ull>());
    const Double64 series = sum_of_ordered(2.0 * ratio.high, ratio.high * square * sum);
    const Double64 of_mantissa = sum_of_ordered(series.high, 2.0 * ratio.low + series.low);
    const f64 count = (f64)twos, ln2 = scalar_constant<0x3fe62e42fefa39efull>(), product = count * ln2;
    const f64 product_rest = __builtin_fma(count, scalar_constant<0x3c7abc9e3b39803full>(), __builtin_fma(count, ln2, -product));
    const Double64 of_twos = sum_of_ordered(product, product_rest), all = sum_of(of_twos, of_mantissa);
    return x == 0.0 ? -from_bits((u64)0x7ff0000000000000ull) : all.high;
}

} // namespace hipstack
