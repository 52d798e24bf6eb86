// The softmax of each row of x, a block of 256 threads each.
template <class Combine>
static __device__ float of_block(float value, float* scratch, Combine combine)
{
    scratch[threadIdx.x] = value;
    __syncthreads();
    for (unsigned step = 128; step > 0; step /= 2) {
        if (threadIdx.x < step)
            scratch[threadIdx.x] = combine(scratch[threadIdx.x], scratch[threadIdx.x + step]);
        __syncthreads();
    }
    const float whole = scratch[0];
    __syncthreads();
    return whole;
}

extern "C" __global__ void softmax(const float* x, float* y, unsigned width)
{
    __shared__ float scratch[256];
    const float* row = x + (size_t)blockIdx.x * width;
    float* out = y + (size_t)blockIdx.x * width;
    float max = -1.0f / 0.0f;
    for (unsigned column = threadIdx.x; column < width; column += 256)
        max = fmaxf(max, row[column]);
    max = of_block(max, scratch, [](float a, float b) { return fmaxf(a, b); });
    float sum = 0.0f;
    for (unsigned column = threadIdx.x; column < width; column += 256)
        sum += expf(row[column] - max);
    sum = of_block(sum, scratch, [](float a, float b) { return a + b; });
    for (unsigned column = threadIdx.x; column < width; column += 256)
        out[column] = expf(row[column] - max) / sum;
}
