#if __CUDA_ARCH__ >= 800 //~ check
#elif defined(__CUDACC__) //~ check
#endif
#if defined(USE_ROCM) || CUDART_VERSION >= 12000 // no: decided for AMD
#endif
#if SOMETHING > 3 // no: not CUDA's
#endif
#ifdef __HIP_PLATFORM_AMD__
#define CUDA_VERSION 12000
#endif
#if CUDA_VERSION >= 11000 // no: the project defines it for AMD
#endif
#ifndef __NVCC__ //~ check
#endif
#if 0 && __CUDA_ARCH__ // no: never
#endif
