// Sorts each tile of 256 elements, by a bitonic network in shared memory. The last tile may be shorter.
extern "C" __global__ void sort_tiles(const unsigned* x, unsigned* y, unsigned count)
{
    __shared__ unsigned tile[256];
    const unsigned thread = threadIdx.x, i = blockIdx.x * blockDim.x + threadIdx.x;
    tile[thread] = i < count ? x[i] : 0xffffffffu;
    __syncthreads();
    for (unsigned size = 2; size <= 256; size *= 2) {
        for (unsigned distance = size / 2; distance > 0; distance /= 2) {
            const unsigned partner = thread ^ distance;
            if (partner > thread) {
                const unsigned low = tile[thread], high = tile[partner];
                if ((low > high) == ((thread & size) == 0)) {
                    tile[thread] = high;
                    tile[partner] = low;
                }
            }
            __syncthreads();
        }
    }
    if (i < count)
        y[i] = tile[thread];
}
