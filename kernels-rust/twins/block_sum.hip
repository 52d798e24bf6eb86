// The sum of what each block reads of x: waves sum by shuffles, blocks in shared memory.
extern "C" __global__ void block_sum(const float* x, float* sums, unsigned count)
{
    __shared__ float of_waves[32];
    float sum = 0.0f;
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        sum += x[i];
    for (int step = warpSize / 2; step > 0; step /= 2)
        sum += __shfl_xor(sum, step);
    if (threadIdx.x % warpSize == 0)
        of_waves[threadIdx.x / warpSize] = sum;
    __syncthreads();
    if (threadIdx.x == 0) {
        float whole = 0.0f;
        for (unsigned wave = 0; wave < blockDim.x / warpSize; wave++)
            whole += of_waves[wave];
        sums[blockIdx.x] = whole;
    }
}
