#define TILE 128
__global__ void a() {
    __shared__ float x[TILE][TILE]; //~ breaks
    __shared__ float y[TILE];
}
__global__ void b() { __shared__ float x[TILE * TILE]; } // no: 64 KiB exactly
__global__ void c(int n) { extern __shared__ float x[]; } // no: the host says how much
void host() {
    cudaFuncSetAttribute(a, cudaFuncAttributeMaxDynamicSharedMemorySize, 98304); //~ check
    cudaFuncSetAttribute(a, cudaFuncAttributePreferredSharedMemoryCarveout, 50); // no: only a hint
}
