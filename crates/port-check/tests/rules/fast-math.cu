__device__ float f(float x, float y) {
    float a = __expf(x); //~ check
    float b = __fdividef(x, y); //~ check
    float c = __tanhf(x); //~ breaks
    return expf(a) + b + c; // no: the exact function
}
__device__ float __expf(float x, int digits); // no: a declaration
