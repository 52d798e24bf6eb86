template <typename T>
__global__ void f(double* d, float* x, half* h, const __half2* pairs, T* any, int* i, unsigned short* s) {
    atomicAdd(d, 1.0); //~ check
    atomicAdd(&d[3], 1.0); //~ check
    atomicAdd(x, 1.0f); // no: float
    atomicAdd(any, T(1)); // no: the type is not known
    atomicAdd(h, __float2half(1.0f)); //~ breaks
    atomicAdd(reinterpret_cast<__half2*>(x), value); //~ breaks
    atomicAdd((double*)x, 1.0); //~ check
    atomicAdd_block(i, 1); //~ breaks
    atomicAdd_system(i, 1); //~ check
    atomicInc_system(i, 1); //~ breaks
    atomicCAS(s, 0, 1); // no: HIP has it for 16 bits
    counter.atomicAdd_block(1); // no: a method
}
