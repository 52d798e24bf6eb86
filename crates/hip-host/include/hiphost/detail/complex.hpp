// HIP's complex numbers: x is the real part, y the imaginary part. Each operation of the formulas is rounded
// separately.
#pragma once

#define HIPHOST_COMPLEX(C, T, s, root)                                                                      \
    static __forceinline__ T hipCreal##s(C z) { return z.x; }                                               \
    static __forceinline__ T hipCimag##s(C z) { return z.y; }                                               \
    static __forceinline__ C make_##C(T a, T b) { return C(a, b); }                                         \
    static __forceinline__ C hipConj##s(C z) { return C(z.x, -z.y); }                                       \
    static __forceinline__ T hipCsqabs##s(C z) { return z.x * z.x + z.y * z.y; }                            \
    static __forceinline__ T hipCabs##s(C z) { return root(hipCsqabs##s(z)); }                              \
    static __forceinline__ C hipCadd##s(C p, C q) { return C(p.x + q.x, p.y + q.y); }                       \
    static __forceinline__ C hipCsub##s(C p, C q) { return C(p.x - q.x, p.y - q.y); }                       \
    static __forceinline__ C hipCmul##s(C p, C q) { return C(p.x * q.x - p.y * q.y, p.y * q.x + p.x * q.y); } \
    static __forceinline__ C hipCdiv##s(C p, C q) {                                                         \
        const T square = hipCsqabs##s(q);                                                                   \
        return C((p.x * q.x + p.y * q.y) / square, (p.y * q.x - p.x * q.y) / square);                       \
    }                                                                                                       \
    static __forceinline__ C hipCfma##s(C p, C q, C r) {                                                    \
        return C((p.x * q.x + r.x) - p.y * q.y, (q.x * p.y + r.y) + p.x * q.y);                             \
    }

typedef float2 hipFloatComplex;
typedef double2 hipDoubleComplex;
typedef hipFloatComplex hipComplex;
HIPHOST_COMPLEX(hipFloatComplex, float, f, sqrtf)
HIPHOST_COMPLEX(hipDoubleComplex, double, , sqrt)
#undef HIPHOST_COMPLEX

static __forceinline__ hipComplex make_hipComplex(float a, float b) { return hipComplex(a, b); }
static __forceinline__ hipFloatComplex hipComplexDoubleToFloat(hipDoubleComplex z) {
    return hipFloatComplex((float)z.x, (float)z.y);
}
static __forceinline__ hipDoubleComplex hipComplexFloatToDouble(hipFloatComplex z) { return hipDoubleComplex(z.x, z.y); }
