//! SiLU and GELU in the compute type, for results of the unit's dtype: kernels that gate give the bits of the elementwise ones.
//
// Included after portable.hpp and activations.hpp.
#pragma once
namespace hipstack {

#if DTYPE_IS_FLOAT
// For results of 8 and 16 bits: a relative error below 2^-14 in f32 does not show.
static constexpr bool SMALL = sizeof(T) < 4;
struct silu_op {
    template <class C> METHOD C operator()(C x) const {
        if constexpr (SMALL) return x * quick_sigmoid(x);
        else return times_sigmoid(x, x, C(0));
    }
};
// x/2 (1 + tanh(u)) = x sigmoid(2u), 2u = x (a + b x²), a = 2√(2/π), b = 0.044715 a. Far below zero the error of 2u is what
// counts, so 2u is computed with its rounding errors: r1 … r3. Beyond ±40 the sigmoid is 0 or 1 in every dtype.
struct gelu_op {
    template <class C> METHOD C operator()(C x) const {
        constexpr f64 A = 1.5957691216057307117597842397375, B = 0.071354816272600248773876352279864;
        constexpr C a = (C)A, b = (C)B;
        if constexpr (SMALL) return x * quick_sigmoid(x * multiply_add(b, x * x, a));
        // What is left of the constants beyond f32; beyond f64 for f64.
        constexpr C a1 = sizeof(C) == 4 ? (C)(A - (f64)a) : (C)-9.9693088091109203e-17;
        constexpr C b1 = sizeof(C) == 4 ? (C)(B - (f64)b) : (C)-6.1751499181553155e-19;
        const C t = x < C(-40) ? C(-40) : x > C(40) ? C(40) : x;
        const C square = t * t, r1 = m_fma(t, t, -square);
        const C p = b * square, r2 = m_fma(b, square, -p) + (b * r1 + b1 * square);
        const C sum = a + p, part = sum - a, r3 = ((a - (sum - part)) + (p - part)) + (a1 + r2);
        const C v = t * sum, rest = m_fma(t, sum, -v) + t * r3;
        return times_sigmoid(x, v, rest);
    }
};
#endif

} // namespace hipstack
