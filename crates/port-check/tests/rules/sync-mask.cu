#define FULL 0xffffffff
#define WIDE 0xffffffffffffffffull
__global__ void f(int* x, unsigned narrow, uint64_t wide) {
    x[0] = __shfl_sync(0xffffffff, x[0], 0); //~ breaks
    x[0] = __shfl_xor_sync(FULL, x[0], 1); //~ breaks
    x[0] = __shfl_xor_sync(WIDE, x[0], 1); // no: 64 bits
    x[0] = __any_sync(narrow, x[0]); //~ breaks
    x[0] = __any_sync(wide, x[0]); // no: 64 bits
    x[0] = __ballot_sync(-1, x[0]); //~ breaks
    x[0] = __ballot_sync(0xffffffffffffffff, x[0]); // no: the constant has 64 bits
    x[0] = __shfl_sync(__activemask(), x[0], 0); // no: 64 bits in HIP
    __syncwarp(); // no: without a mask
    __syncwarp((1u << 16) - 1); //~ breaks
    x[0] = __shfl_xor(x[0], 1); // no: without a mask
}
#define WITH(mask) __any_sync(mask, 1) // no: the mask is the caller's
#define ALL(x) __all_sync(~0u, x) //~ breaks
