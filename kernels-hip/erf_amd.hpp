//! The error function, and gelu by it, of f64 on AMD, of one element or several at once.
//
// Included by elementwise.hip. What AMD's library computes, step by step and bit by bit, without its choices for arguments that do not come.
// Compilers load the library's constants of 64 bits into registers ahead of a loop, and there are more of them than scalar registers. Here they lie
// in memory in the order in which they are used, and are read there, many by one instruction, for all elements that a thread has.
namespace hipstack {

typedef const __attribute__((address_space(4))) f64* Constants;
// Compilers take the place for one that they do not know, and read what lies there after this.
DEVICE Constants constants_anew(Constants c) {
    asm volatile("" : "+s"(c));
    return c;
}
// The same once `known` is computed: all constants at once would fill scalar registers.
template <u32 N> DEVICE Constants constants_after(f64 (&known)[N], Constants c) {
    UNROLL
    for (u32 k = 0; k < N; k++) asm volatile("" : "+v"(known[k]));
    return constants_anew(c);
}

// x y + c. On gfx9 by an instruction: for an fma compilers copy the constant to the vector registers of the result first.
DEVICE f64 fma_constant(f64 x, f64 y, f64 c) {
#if ON_GFX9
    f64 out;
    asm("v_fma_f64 %0, %1, %2, %3" : "=v"(out) : "v"(x), "v"(y), "s"(c));
    return out;
#else
    return __builtin_fma(x, y, c);
#endif
}
// ((c[0] x + c[1]) x + c[2]) ...
template <u32 TERMS, u32 N> DEVICE void polynomial(f64 (&out)[N], const f64 (&x)[N], Constants c) {
    UNROLL
    for (u32 k = 0; k < N; k++) out[k] = __builtin_fma(x[k], c[0], c[1]);
    UNROLL
    for (u32 i = 2; i < TERMS; i++) {
        UNROLL
        for (u32 k = 0; k < N; k++) out[k] = fma_constant(x[k], out[k], c[i]);
    }
}

// log2(e), ln 2 in two parts, and the terms of e^r.
#define EXP_CONSTANTS                                                                                              \
    0x3ff71547652b82feull, 0x3fe62e42fefa39efull, 0x3c7abc9e3b39803full, 0x3e5ade156a5dcb37ull, 0x3e928af3fca7ab0cull, \
    0x3ec71dee623fde64ull, 0x3efa01997c89e6b0ull, 0x3f2a01a014761f6eull, 0x3f56c16c1852b7b0ull, 0x3f81111111122322ull, \
    0x3fa55555555502a1ull, 0x3fc5555555555511ull, 0x3fe000000000000bull
static constexpr u32 EXP_SIZE = 13;
// e^x of x above -1075 that are not great.
template <u32 N> DEVICE void exp_by(f64 (&out)[N], const f64 (&x)[N], Constants c) {
    f64 twos[N], rest[N];
    UNROLL
    for (u32 k = 0; k < N; k++) {
        twos[k] = __builtin_rint(x[k] * c[0]);
        rest[k] = __builtin_fma(-twos[k], c[2], __builtin_fma(-twos[k], c[1], x[k]));
    }
    polynomial<EXP_SIZE - 3>(out, rest, c + 3);
    UNROLL
    for (u32 k = 0; k < N; k++)
        out[k] = __builtin_amdgcn_ldexp(__builtin_fma(rest[k], __builtin_fma(rest[k], out[k], 1.0), 1.0), (i32)twos[k]);
}

// An operation of one element, by that of all that a thread has.
template <class Op> struct OneOfAll {
    METHOD f64 operator()(f64 x) const {
        f64 one[1] = {x};
        ((const Op*)this)->all(one);
        return one[0];
    }
};

// ---- erf --------------------------------------------------------------------------------------------------------------
static constexpr u32 NEAR_TERMS = 12, FAR_TERMS = 23;
static __constant__ const u64 ERF_NEAR[NEAR_TERMS] = {
    0xbe0ab15c51d2ebebull, 0x3e4d6e3ddfeb1f49ull, 0xbe85bfe763844720ull, 0x3ebb97e44280cfb9ull, 0xbeef4ca204c771c5ull, 0x3f1f9a2b75531772ull,
    0xbf4c02db0149d904ull, 0x3f7565bccf7e2856ull, 0xbf9b82ce311ee09bull, 0x3fbce2f21a0408d1ull, 0xbfd812746b0379b2ull, 0x3fc06eba8214db68ull};
static __constant__ const u64 ERF_FAR[FAR_TERMS + EXP_SIZE] = {
    0x3c598d37c14b24beull, 0xbcc145a3502a41cdull, 0x3d162deed735f9ecull, 0xbd61ffe55552ca22ull, 0x3da4b9ba7074b644ull, 0xbde20345a78ce240ull,
    0x3e188b7a0cefddd8ull, 0xbe4aded48c94b617ull, 0x3e7803aa312306d0ull, 0xbea1b0106f4c5a9bull, 0x3ec58c0e7cfd79aeull, 0xbee59e386410fdf7ull,
    0x3f0192fc1f9b1786ull, 0xbf162cf3f4634b2eull, 0x3f2314dfb42f7e4bull, 0xbf12cb68c047288aull, 0xbf4038ff7bbcce25ull, 0x3f5a9466ae1babaeull,
    0xbf258be1e65a6063ull, 0xbf939bc16738ee3aull, 0x3fba4fbc28146b69ull, 0x3fe45f2da69750c4ull, 0x3fc06ebb919fcca8ull, EXP_CONSTANTS};
struct erf_op : OneOfAll<erf_op> {
    // Each way is gone by all elements, if any needs it: of a wave's elements some mostly do.
    template <u32 N> METHOD void all(f64 (&x)[N]) const {
        f64 size[N], out[N], by_near[N], by_far[N];
        bool near[N], all_near = true, any_near = false;
        UNROLL
        for (u32 k = 0; k < N; k++) {
            size[k] = m_abs(x[k]);
            near[k] = size[k] < 1.0;
            all_near = all_near && near[k];
            any_near = any_near || near[k];
            asm("" : "=v"(out[k])); // any number
        }
        if (any_near) {
            f64 square[N];
            UNROLL
            for (u32 k = 0; k < N; k++) square[k] = x[k] * x[k];
            polynomial<NEAR_TERMS>(by_near, square, constants_anew((Constants)ERF_NEAR));
            UNROLL
            for (u32 k = 0; k < N; k++) out[k] = __builtin_fma(size[k], by_near[k], size[k]);
        }
        if (!all_near) {
            const Constants c = constants_anew((Constants)ERF_FAR);
            f64 exponent[N];
            polynomial<FAR_TERMS>(by_far, size, c);
            UNROLL
            for (u32 k = 0; k < N; k++) exponent[k] = -__builtin_fma(size[k], by_far[k], size[k]);
            exp_by(by_far, exponent, c + FAR_TERMS);
            UNROLL
            for (u32 k = 0; k < N; k++) {
                by_far[k] = exponent[k] < -1075.0 ? 0.0 : by_far[k];
                by_far[k] = 1.0 - by_far[k];
                out[k] = near[k] ? out[k] : by_far[k];
            }
        }
        UNROLL
        for (u32 k = 0; k < N; k++) x[k] = m_copysign(out[k], x[k]);
    }
};
template <> constexpr bool TAKES_PAIRS<Rounded<erf_op>> = true;

// ---- gelu -------------------------------------------------------------------------------------------------------------
// 1/x of numbers that are not subnormal.
DEVICE f64 reciprocal(f64 x) {
    f64 out = __builtin_amdgcn_rcp(x);
    UNROLL
    for (u32 i = 0; i < 2; i++) out = __builtin_fma(__builtin_fma(-x, out, 1.0), out, out);
    return out;
}
// e^(x²) erfc(x) of x that are not negative.
static constexpr u32 SCALED_TERMS = 22;
template <u32 N> DEVICE void scaled_erfc_by(f64 (&out)[N], const f64 (&x)[N], Constants c) {
    f64 ratio[N], sum[N];
    UNROLL
    for (u32 k = 0; k < N; k++) {
        // (x - 4) / (x + 4)
        const f64 inverse = reciprocal(x[k] + 4.0), first = (x[k] - 4.0) * inverse;
        ratio[k] = __builtin_fma(inverse, __builtin_fma(-first, x[k], __builtin_fma(first + 1.0, -4.0, x[k])), first);
    }
    polynomial<SCALED_TERMS>(sum, ratio, c);
    UNROLL
    for (u32 k = 0; k < N; k++) {
        // (1 + sum) / (1 + 2x)
        const f64 twice = x[k] + x[k], inverse = reciprocal(twice + 1.0), first = __builtin_fma(sum[k], inverse, inverse);
        out[k] = __builtin_fma(inverse, __builtin_fma(-first, twice, 1.0) + (sum[k] - first), first);
    }
}
// The root of a half in two parts, those of exp, of erfc, two by the root of pi, where erfc becomes 0, and where its slope may.
static __constant__ const u64 GELU_ERF[2 + EXP_SIZE + SCALED_TERMS + 3] = {
    0x3fe6a09e667f3bcdull, 0xbc8bdd3413b26456ull, EXP_CONSTANTS,
    0xbe41f39d54df3c0eull, 0xbe41166337cfa789ull, 0x3e7b45f1d9802b82ull, 0x3e6d90488a03dcdbull, 0xbeab87b02eba62d8ull, 0x3e95104ba56e15f1ull,
    0x3ed7f29f71c907deull, 0xbee78f5c2cd770fbull, 0xbef995fb76d0a51aull, 0x3f23be2ec022d0edull, 0xbf2a1deb2fdbf62eull, 0xbf48d4ac3689fc43ull,
    0x3f749c67192d909bull, 0xbf909623852ff070ull, 0x3fa3079edfadea8full, 0xbfb0fb06dff65910ull, 0x3fb7fee004de8f32ull, 0xbfb9ddb23c3dbeb3ull,
    0x3fb16ecefcfa6930ull, 0x3f8f7f5df66fb8a3ull, 0xbfc1df1ad154a2a8ull, 0x3fcdd2c8b74febf8ull,
    0x3ff20dd750429b6dull, 0x403b39dc41e48bfcull, 0x403e000000000000ull};
#undef EXP_CONSTANTS
// As in elementwise.hip, with the library's erfc: its power is the slope's, and where that is of numbers below -1075 neither counts.
struct gelu_erf_op : OneOfAll<gelu_erf_op> {
    template <u32 N> METHOD void all(f64 (&x)[N]) const {
        Constants c = constants_anew((Constants)GELU_ERF);
        f64 z[N], size[N], exponent[N], rest[N], power[N], tail[N];
        UNROLL
        for (u32 k = 0; k < N; k++) {
            z[k] = -x[k] * c[0];
            rest[k] = -(__builtin_fma(x[k], c[0], z[k]) + x[k] * c[1]);
            size[k] = m_abs(z[k]);
            exponent[k] = -z[k] * z[k];
        }
        exp_by(power, exponent, c + 2);
        c = constants_after(power, c + 2 + EXP_SIZE);
        scaled_erfc_by(tail, size, c);
        c += SCALED_TERMS;
        UNROLL
        for (u32 k = 0; k < N; k++) {
            tail[k] *= __builtin_fma(power[k], __builtin_fma(-z[k], z[k], -exponent[k]), power[k]);
            tail[k] = size[k] > c[1] ? 0.0 : tail[k];
            const f64 other = 2.0 - tail[k], derivative = power[k] * c[0] * rest[k];
            const bool positive = z[k] > 0.0, in_range = z[k] < c[2];
            const f64 erfc = z[k] < 0.0 ? other : tail[k], slope = (positive & in_range) ? derivative : 0.0;
            x[k] = 0.5 * x[k] * (erfc - slope);
        }
    }
};
template <> constexpr bool TAKES_PAIRS<Rounded<gelu_erf_op>> = true;

} // namespace hipstack
