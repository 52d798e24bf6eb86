#define WARP_SIZE 32 //~ check
#define NUM_WARPS 32 // no: how many warps
#define BLOCK_SIZE 32 // no: not a warp
constexpr int kWarpSize = 32; //~ check
constexpr int tile = 32; // no: not a warp
__global__ void f(float* x, int n) {
    const int lane = threadIdx.x % 32; //~ check
    const int warp_id = threadIdx.x >> 5; //~ check
    const int tid = threadIdx.x + threadIdx.y * blockDim.x;
    if ((tid & 0x1f) == 0) x[tid] = __shfl_xor_sync(~0ull, x[0], 1, 32); //~ check
    const int quarter = tid / 8; // no: not 32
    x[n % 32] = 0; // no: not a thread's index
    const int warps = (blockDim.x + 31) / 32; //~ check
    for (int offset = 16; offset > 0; offset >>= 1) { //~ check
        x[0] += __shfl_xor_sync(~0ull, x[0], offset);
    }
    for (int offset = 16; offset > 0; offset >>= 1) { // no: with a width
        x[0] += __shfl_xor_sync(~0ull, x[0], offset, 32);
    }
    for (int i = 16; i > 0; i >>= 1) x[i] = 0; // no: no shuffle
}
__global__ void blocks_of_quants(const float* x, float* y) {
    const int tid = threadIdx.x;
    const int ib = tid / 32; // no: a block of 32 numbers, in a function without warps
    y[ib] = x[tid];
    y[threadIdx.x / 32] = 0; //~ check
}
