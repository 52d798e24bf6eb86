// Assertions.

#if defined(__HIPCC_RTC__) && !defined(assert)
// Some versions of AMD's hiprtc have the function behind assert, but not the macro.
#define assert(condition) \
    ((condition) ? (void)0 : __assert_fail(#condition, __FILE__, __LINE__, __PRETTY_FUNCTION__))
#endif

extern "C" __global__ void assert_small(int* out, int limit) {
    int answer = threadIdx.x;
    assert(answer < limit);
    out[threadIdx.x] = answer;
}
