// y = a · x + y, an element a thread.
extern "C" __global__ void saxpy(float a, const float* x, float* y, unsigned count)
{
    const unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
    if (i < count)
        y[i] += a * x[i];
}
