// Adds to counts how often each byte occurs in x. Blocks of 256 threads count in shared memory first.
extern "C" __global__ void histogram(const unsigned char* x, unsigned* counts, unsigned count)
{
    __shared__ unsigned of_block[256];
    of_block[threadIdx.x] = 0;
    __syncthreads();
    for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
        atomicAdd(&of_block[x[i]], 1u);
    __syncthreads();
    atomicAdd(&counts[threadIdx.x], of_block[threadIdx.x]);
}
