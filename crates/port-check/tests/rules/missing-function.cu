__global__ void f(int* x, const __grid_constant__ int y) { //~ breaks
    x[0] = __dp4a(x[1], x[2], x[3]); //~ breaks
    x[1] = __vsubss4(x[0], y); //~ breaks
    x[2] = __vcmpgtu2(x[0], y); //~ breaks
    x[3] = __byte_perm(x[0], x[1], 0x3210); // no: HIP has it
    x[4] = __ldg(x); // no: HIP has it
    __nanosleep(100); //~ breaks
    int __vector4 = 3; // no: not a function
    x[5] = __provided4(x[0]);
}
__device__ int __vadd2(int a, int b) { return a + b; } // no: the project's own
__device__ int g(int a) { return __vadd2(a, a); } // no: the project's own
