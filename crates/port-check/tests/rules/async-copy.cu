#include <cuda_pipeline.h> //~ breaks
#include <cuda_pipeline_primitives.h> //~ breaks
#include "pipeline.h" // no: the project's own
__global__ void f(float* to, const float* from) {
    __pipeline_memcpy_async(to, from, 16); //~ breaks
    __pipeline_commit(); //~ breaks
    my_pipeline_commit(); // no: another function
}
