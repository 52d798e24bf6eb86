#include <cub/cub.cuh> //~ breaks
#include <cutlass/gemm/device/gemm.h> //~ breaks
#include <cute/tensor.hpp> //~ breaks
#include <thrust/sort.h> //~ check
#include "cubes.h" // no: the project's own
void f(int* x) {
    thrust::sort(thrust::cuda::par, x, x + 3); //~ breaks
    thrust::sort(x, x + 3); // no: the same in rocThrust
}
