constexpr int width = warpSize; //~ breaks
__global__ void f(float* x) {
    __shared__ float partial[warpSize]; //~ breaks
    if constexpr (warpSize == 64) x[0] = 1; //~ breaks
    reduce<float, warpSize>(x); //~ breaks
    const int lane = threadIdx.x % warpSize; // no: at run time
    x[warpSize] = 2; // no: an index
    if (lane < warpSize / 2) x[1] = 3; // no: at run time
}
