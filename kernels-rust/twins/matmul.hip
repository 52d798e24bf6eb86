// c = a · b, of row-major matrices: a has k columns, b and c have n. A block makes a tile of 16 × 16.
extern "C" __global__ void matmul(unsigned m, unsigned n, unsigned k, const float* a, const float* b, float* c)
{
    __shared__ float tile_of_a[256];
    __shared__ float tile_of_b[256];
    const unsigned tiles = (n + 15) / 16;
    const unsigned down = threadIdx.x / 16, across = threadIdx.x % 16;
    const unsigned row = blockIdx.x / tiles * 16 + down, column = blockIdx.x % tiles * 16 + across;
    float sum = 0.0f;
    for (unsigned begin = 0; begin < k; begin += 16) {
        tile_of_a[threadIdx.x] = begin + across < k && row < m ? a[row * k + begin + across] : 0.0f;
        tile_of_b[threadIdx.x] = begin + down < k && column < n ? b[(begin + down) * n + column] : 0.0f;
        __syncthreads();
        for (unsigned inner = 0; inner < 16; inner++)
            sum += tile_of_a[down * 16 + inner] * tile_of_b[inner * 16 + across];
        __syncthreads();
    }
    if (column < n && row < m)
        c[row * n + column] = sum;
}
