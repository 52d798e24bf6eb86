#include <mma.h> //~ breaks
#include "mma.cuh" // no: the project's own
using namespace nvcuda; //~ breaks
__global__ void f() {
    wmma::fragment<wmma::accumulator, 16, 16, 16, float> c; //~ breaks
    rocwmma::fragment<int> d; // no: ROCm's library
    int wmma = 3; // no: a variable
}
