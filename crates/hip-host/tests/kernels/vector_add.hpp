// The sum of two vectors. Tests check it, as a plain loop and on fibers, and benchmarks measure it.

// As written for a GPU: one element per thread.
HIPHOST_KERNEL(vector_add, const float* a, const float* b, float* c, uint64_t count) {
    uint64_t i = (uint64_t)blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count) c[i] = a[i] + b[i];
}

#ifdef HIPHOST_NO_BARRIERS
// The form that a compiler can vectorise.
HIPHOST_KERNEL(vector_add_each, const float* a, const float* b, float* c, uint64_t count) {
    HIPHOST_FOR_EACH(i, count) c[i] = a[i] + b[i];
}
#endif
