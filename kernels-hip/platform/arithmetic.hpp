//! Arithmetic instructions that compilers do not generate from a C++ expression.
//
// quick_exp2:       2^x with a relative error of 2^-22. Subnormal results may be flushed to 0.
// quick_reciprocal: 1/x of a normal number. A result out of the normal range becomes 0 or infinity.
// unit_step:        1 where x > 0, else 0. NaN gives 0.
//
// Included by portable.hpp.
#pragma once

namespace hipstack {

#if ON_NVIDIA
DEVICE f32 quick_exp2(f32 x) {
    f32 out;
    asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}
DEVICE f32 quick_reciprocal(f32 x) {
    f32 out;
    asm("rcp.approx.ftz.f32 %0, %1;" : "=f"(out) : "f"(x));
    return out;
}
DEVICE f32 unit_step(f32 x) {
    f32 out;
    asm("set.gt.f32.f32 %0, %1, 0f00000000;" : "=f"(out) : "f"(x));
    return out;
}
#elif ON_AMD
#if __has_builtin(__builtin_amdgcn_exp2f)
DEVICE f32 quick_exp2(f32 x) { return __builtin_amdgcn_exp2f(x); }
#else
// Compilers without __builtin_amdgcn_exp2f generate the same instruction for __builtin_exp2f.
DEVICE f32 quick_exp2(f32 x) { return __builtin_exp2f(x); }
#endif
DEVICE f32 quick_reciprocal(f32 x) { return __builtin_amdgcn_rcpf(x); }
DEVICE f32 unit_step(f32 x) { return x > 0.0f ? 1.0f : 0.0f; }
#else
DEVICE f32 quick_exp2(f32 x) { return exp2f(x); }
DEVICE f32 quick_reciprocal(f32 x) { return 1.0f / x; }
DEVICE f32 unit_step(f32 x) { return x > 0.0f ? 1.0f : 0.0f; }
#endif

} // namespace hipstack
