#include <cuda/std/limits> //~ breaks
#include <cuda/atomic> //~ breaks
#include "cuda_utils.h" // no: the project's own
__device__ float a = cuda::std::numeric_limits<float>::max(); //~ breaks
__device__ cuda::atomic<int> b; //~ breaks
__device__ float c() { return ::cuda::std::numeric_limits<float>::max(); } //~ breaks
auto stream = at::cuda::getCurrentCUDAStream(); // no: PyTorch's
auto device = c10::cuda::device(); // no: PyTorch's
cuda::Runtime runtime; // no: not libcu++
