// The sum of two vectors: tests hold it right, in a plain loop and on fibers, and benchmarks measure it.

// As it is written for a GPU: one element for each thread.
HIPHOST_KERNEL(vector_add, const float* a, const float* b, float* c, uint64_t count) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + b[i];
}

#ifdef HIPHOST_NO_BARRIERS
// In the form that a compiler vectorises.
HIPHOST_KERNEL(vector_add_each, const float* a, const float* b, float* c, uint64_t count) {
    HIPHOST_FOR_EACH(i, count) c[i] = a[i] + b[i];
}
#endif
