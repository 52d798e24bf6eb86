//! Sigmoid, silu and gelu of f32 with few instructions: approximate exp2 and reciprocal of the GPU, corrected where the error would show.
//
// Included after portable.hpp.
namespace hipstack {

// log2(e) as the sum of two numbers.
static constexpr f32 LOG2_E = 1.4426950408889634f, LOG2_E_REST = (f32)(1.4426950408889634074 - (f64)LOG2_E);
// 1/(1 + exp(-v)) = s/(s + s exp(-v)) with s = 2^-64. The scale keeps s exp(-v) from overflowing where the sigmoid is still a normal
// number.
DEVICE f32 quick_sigmoid(f32 v) {
    constexpr f32 S = 5.42101086242752217e-20f;
    return S * quick_reciprocal(S + quick_exp2(multiply_add(v, -LOG2_E, -64.0f)));
}
// min(|x|, end). NaN gives any number.
DEVICE f32 clamped_abs(f32 x, f32 end) {
    const f32 a = m_abs(x);
    if constexpr (ON_NVIDIA) return fminf(a, end);
    else return a < end ? a : end;
}
// gelu(x) = x Φ(x), where Φ is the normal distribution function. With tail = Φ(-|x|), Φ(x) is 1 - tail above zero and tail below: both are
// |step - tail|, so only the step is selected. At -inf the product -inf * 0 is NaN, as the definition says. The tail is a product of two
// factors, one scaled by S = 2^-64 and one by 2^64, so that neither is subnormal.
static constexpr f32 TAIL_SCALE = 5.42101086242752217e-20f;
// tail = t p(t) exp(-x^2/2) with t = 1/(1 + 0.32 |x|). The polynomial p interpolates at Chebyshev nodes up to |x| = 14.5 (relative error
// below 2^-16). At 20 the power is 0.
DEVICE f32 quick_gelu_erf(f32 x) {
    constexpr f32 S = TAIL_SCALE;
    const f32 a = clamped_abs(x, 20.0f);
    const f32 t = quick_reciprocal(multiply_add(a, 0.32f, 1.0f));
    f32 p = multiply_add(t, S * -0.06624300321945903f, S * 0.13803415903973096f);
    p = multiply_add(p, t, S * 0.0513443323632181f);
    p = multiply_add(p, t, S * 0.1221300653407423f);
    p = multiply_add(p, t, S * 0.12706283957170292f);
    p = multiply_add(p, t, S * 0.12766686789733186f);
    const f32 power = quick_exp2(multiply_add(a * a, -0.5f * LOG2_E, 64.0f));
    return x * m_abs(multiply_add(-(p * t), power, unit_step(x)));
}
// As quick_gelu_erf, but accurate to f32. tail exp(x^2/2) is a rational function of |x| with positive coefficients, fitted up to 14.6
// (relative error below 2^-26), where -x^2/2 is scaled by LOG2_E as rounded to f32. The exponent of the power is computed from the square
// and its rounding error, and split as in times_sigmoid into a fraction and an integer. The integer is not added to the power's exponent
// but to the divisor's, with the opposite sign. At 15 the tail is 0.
DEVICE f32 short_gelu_erf(f32 x) {
    constexpr f32 S = TAIL_SCALE, WHOLE = 12582912.0f - 64.0f, HALF_LOG2_E = 0.5f * LOG2_E;
    const f32 a = clamped_abs(x, 15.0f);
    f32 divisor = a + 9.684651680471225f;
    divisor = m_fma(divisor, a, 44.01101178472645f);
    divisor = m_fma(divisor, a, 111.3866163064034f);
    divisor = m_fma(divisor, a, 153.47430946975508f);
    divisor = m_fma(divisor, a, 90.78337016549695f);
    f32 p = m_fma(a, S * 0.39894067671708733f, S * 3.8635477710287063f);
    p = m_fma(p, a, S * 17.16204681115503f);
    p = m_fma(p, a, S * 40.519804530115884f);
    p = m_fma(p, a, S * 45.391685448692606f);
    const f32 square = a * a, lost = m_fma(a, a, -square);
    const f32 sum = m_fma(square, HALF_LOG2_E, WHOLE);
    const f32 fraction = m_fma(lost, -HALF_LOG2_E, m_fma(square, -HALF_LOG2_E, sum - WHOLE));
    const f32 near = quick_reciprocal(from_bits(bits_of(divisor) + (bits_of(sum) << 23)));
    return x * m_abs(m_fma(-(p * quick_exp2(fraction)), near, unit_step(x)));
}
// x times the sigmoid of v + rest, where rest is below half an ulp of v. Below zero exp(v) is computed as a square, so that intermediate
// products stay normal numbers until the last step.
template <class C> DEVICE C times_sigmoid(C x, C v, C rest) {
    const C h = m_exp(-m_abs(v) * C(0.5));
    if (v < C(0)) {
        const C root = m_fma(h, rest * C(0.5), h);
        return x * root * (root / (C(1) + root * root));
    }
    return x / (C(1) + h * h);
}
// The same in f32 with fewer instructions: x s/(s + s e^-(v + rest)), s = 2^-32. The exponent is split into an integer, which becomes the
// exponent of a float, and a fraction of at most 1/2, exact to 2^-25. -v is clamped to 111: there s e^-v is infinite, and the quotient 0.
DEVICE f32 times_sigmoid(f32 x, f32 v, f32 rest) {
    constexpr f32 S = 2.3283064365386963e-10f, WHOLE = 12582912.0f + 127.0f - 32.0f;
    const f32 t = -v < 111.0f ? -v : 111.0f;
    const f32 sum = m_fma(t, LOG2_E, WHOLE);
    const f32 fraction = m_fma(rest, -LOG2_E, m_fma(t, LOG2_E_REST, m_fma(t, LOG2_E, WHOLE - sum)));
    const f32 power = quick_exp2(fraction) * from_bits(bits_of(sum) << 23);
    return v > 32.0f ? x : x * quick_reciprocal(S + power) * S;
}

} // namespace hipstack
