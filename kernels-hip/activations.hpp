//! Sigmoid, silu and gelu of f32 with few instructions: powers of two and reciprocals by the GPU's approximations, put right where that shows.
//
// Included after portable.hpp.
namespace hipstack {

// 1/x of normal numbers; what is beyond becomes 0 or infinity.
DEVICE f32 quick_reciprocal(f32 x) {
#if ON_NVIDIA
    f32 out;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
#elif ON_AMD
    return __builtin_amdgcn_rcpf(x);
#else
    return 1.0f / x;
#endif
}
// log2(e) in two parts.
static constexpr f32 LOG2_E = 1.4426950408889634f, LOG2_E_REST = (f32)(1.4426950408889634074 - (f64)LOG2_E);
// 1/(1 + exp(-v)) = s/(s + s exp(-v)) with s = 2^-64, so that exp(-v) does not overflow where the sigmoid is no subnormal yet.
DEVICE f32 quick_sigmoid(f32 v) {
    constexpr f32 S = 5.42101086242752217e-20f;
    return S * quick_reciprocal(S + quick_exp2(multiply_add(v, -LOG2_E, -64.0f)));
}
// The smaller one; NaN if a is one.
DEVICE f32 smaller(f32 a, f32 b) {
#if ON_NVIDIA
    f32 out;
    asm("min.NaN.f32 %0, %1, %2;" : "=f"(out) : "f"(a), "f"(b));
    return out;
#else
    return a > b ? b : a;
#endif
}
// The larger one, where neither or both are NaN.
DEVICE f32 larger(f32 a, f32 b) {
#if ON_HOST
    return a > b ? a : b;
#else
    return fmaxf(a, b);
#endif
}
// x/2 erfc(-x/sqrt(2)) = max(x, 0) - |x| t p(t) exp(-x^2/2), where t = 1/(1 + 0.32 |x|) and p is a polynomial, made to fit. It is a sum, so
// that nothing has to be chosen by x's sign but a factor that is |x| below zero: there -inf times a power of 0 is NaN. The polynomial comes
// times S = 2^-64 and the power by 2^64, so that nothing is subnormal before they meet.
static constexpr f32 TAIL_SCALE = 5.42101086242752217e-20f;
// p interpolates at Chebyshev's points up to |x| = 14.5 (relative error below 2^-16); at 20 the power is 0.
DEVICE f32 quick_gelu_erf(f32 x) {
    constexpr f32 S = TAIL_SCALE;
    const f32 a = smaller(m_abs(x), 20.0f);
    const f32 t = quick_reciprocal(multiply_add(a, 0.32f, 1.0f));
    f32 p = multiply_add(t, S * -0.06624300321945903f, S * 0.13803415903973096f);
    p = multiply_add(p, t, S * 0.0513443323632181f);
    p = multiply_add(p, t, S * 0.1221300653407423f);
    p = multiply_add(p, t, S * 0.12706283957170292f);
    p = multiply_add(p, t, S * 0.12766686789733186f);
    const f32 power = quick_exp2(multiply_add(a * a, -0.5f * LOG2_E, 64.0f));
    return multiply_add(-larger(-x, a), p * t * power, larger(x, -0.0f));
}

// The same in f32: with 0.27 for 0.32, p exact to 2^-24, and t to half an ulp. p is fitted to -x^2/2 with LOG2_E as it is in f32. The power's
// exponent, made of the square and of what rounding took from it, is split as in times_sigmoid: a whole number and a fraction. At 16.27 the
// whole number is -191, whose power is 0 here.
DEVICE f32 short_gelu_erf(f32 x) {
    constexpr f32 S = TAIL_SCALE, WHOLE = 12582912.0f + 127.0f + 64.0f;
    const f32 a = smaller(m_abs(x), 16.27f);
    const f32 divisor = m_fma(a, 0.27f, 1.0f), near = quick_reciprocal(divisor);
    const f32 t = m_fma(near, m_fma(-divisor, near, 1.0f), near);
    f32 p = m_fma(t, S * 0.028933856636285782f, S * -0.12633301317691803f);
    p = m_fma(p, t, S * 0.1694144457578659f);
    p = m_fma(p, t, S * -0.06869817525148392f);
    p = m_fma(p, t, S * 0.10738588869571686f);
    p = m_fma(p, t, S * 0.07229118794202805f);
    p = m_fma(p, t, S * 0.10172680765390396f);
    p = m_fma(p, t, S * 0.10755998641252518f);
    p = m_fma(p, t, S * 0.10771902650594711f);
    const f32 square = a * a, lost = m_fma(a, a, -square);
    const f32 sum = m_fma(square, -0.5f * LOG2_E, WHOLE);
    const f32 fraction = m_fma(lost, -0.5f * LOG2_E, m_fma(square, -0.5f * LOG2_E, WHOLE - sum));
    const f32 tail = p * t * quick_exp2(fraction) * from_bits(bits_of(sum) << 23);
    return m_fma(-larger(-x, a), tail, larger(x, -0.0f));
}
// x times the sigmoid of v + rest, where rest is too small to change v. Below zero exp(v) is taken as a square: the product
// stays a normal number until the last step.
template <class C> DEVICE C times_sigmoid(C x, C v, C rest) {
    const C h = m_exp(-m_abs(v) * C(0.5));
    if (v < C(0)) {
        const C root = m_fma(h, rest * C(0.5), h);
        return x * root * (root / (C(1) + root * root));
    }
    return x / (C(1) + h * h);
}
// The same in f32, with fewer instructions: x s/(s + s e^-(v + rest)), s = 2^-32. The exponent is a whole number, which becomes the exponent
// of a float, and a fraction of at most a half, exact to 2^-25. -v is at most 111: there s e^-v is infinite, and the quotient 0.
DEVICE f32 times_sigmoid(f32 x, f32 v, f32 rest) {
    constexpr f32 S = 2.3283064365386963e-10f, WHOLE = 12582912.0f + 127.0f - 32.0f;
    const f32 t = -v < 111.0f ? -v : 111.0f;
    const f32 sum = m_fma(t, LOG2_E, WHOLE);
    const f32 fraction = m_fma(rest, -LOG2_E, m_fma(t, LOG2_E_REST, m_fma(t, LOG2_E, WHOLE - sum)));
    const f32 power = quick_exp2(fraction) * from_bits(bits_of(sum) << 23);
    return v > 32.0f ? x : x * quick_reciprocal(S + power) * S;
}

} // namespace hipstack
