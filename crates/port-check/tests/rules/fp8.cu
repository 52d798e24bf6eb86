#include <cuda_fp8.h> //~ check
#include <cuda_fp16.h> // no: 16 bits
__device__ float f(__nv_fp8_e4m3 x) { //~ check
    __nv_fp8_storage_t bits = __nv_cvt_float_to_fp8(1.0f, __NV_SATFINITE, __NV_E4M3); //~ check
    __hip_fp8_e4m3 ours; // no: HIP's own
    return float(x);
}
