//! Instructions of arithmetic that no expression of C++ becomes.
//
// quick_exp2:       2^x with a relative error of 2^-22; what is below the normal numbers may be 0.
// quick_reciprocal: 1/x of normal numbers; what is beyond becomes 0 or infinity.
// step_of:          1 where x is positive, 0 where it is not, and where it is NaN.
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
// Compilers that lack the other make the same instruction of this one.
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
