texture<float, 2> reference; //~ breaks
struct texture_cache {}; // no: a name of the project
__global__ void f(cudaTextureObject_t t, float* x) { //~ breaks
    x[0] = tex2D<float>(t, 1.0f, 2.0f); //~ breaks
    x[1] = tex1Dfetch(reference, 3); //~ breaks
    x[2] = text2Dimensions(3); // no: another function
    surf2Dwrite(x[0], s, 4, 2); //~ breaks
}
