__device__ void a(volatile float* s, int t) {
    s[t] += s[t + 32]; //~ check
    s[t] += s[t + 16];
    s[t] += s[t + 8];
}
__device__ void b(float* s, int t) {
    s[t] += s[t + 32]; // no: with barriers
    __syncwarp();
    s[t] += s[t + 16];
    __syncthreads();
}
__device__ void c(float* s, int t) {
    for (int half = 16; half > 0; half >>= 1) { // no: with a barrier
        s[t] += s[t + half];
        __syncthreads();
    }
}
__device__ void d(volatile float* s, int t) {
    for (int half = 16; half > 0; half >>= 1) s[t] += s[t + half]; //~ check
}
__device__ void e(float* s, int t) {
    s[t] += s[t + 128]; // no: one step
    s[t + 1] = s[t];
}
