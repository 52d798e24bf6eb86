__device__ float f(float x, double y) {
    x += __fadd_rz(x, 1.0f); //~ breaks
    x += __fmaf_rd(x, x, x); //~ breaks
    y = __dsqrt_ru(y); //~ breaks
    x += __fadd_rn(x, 1.0f); // no: to nearest
    return x + __float2int_rz(x); // no: a conversion, which HIP has
}
