__device__ float f(float v) {
    v += __shfl_down_sync(~0ull, v, 1); //~ check
    v += __shfl_sync(~0ull, v, 0); //~ check
    v += __shfl_up(v, 1); //~ check
    v += __shfl_down_sync(~0ull, v, 1, 32); // no: with a width
    v += __shfl_xor_sync(~0ull, v, 1); // no: partners by xor are the same in waves of 64
    return v + block.__shfl(v, 1); // no: a method
}
