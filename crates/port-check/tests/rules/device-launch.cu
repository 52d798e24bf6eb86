__global__ void child(int* x) { x[0] = 1; }
__global__ void f(int* x) {
    child<<<1, 1>>>(x); //~ breaks
    cudaDeviceSynchronize(); //~ breaks
    x[1] = x[0] << 3; // no: a shift
}
void host(int* x) {
    f<<<1, 1>>>(x); // no: from the host
    cudaDeviceSynchronize(); // no: the host waits
}
__global__ void tail(cudaGraphExec_t g) { cudaGraphLaunch(g, cudaStreamGraphTailLaunch); } //~ breaks
