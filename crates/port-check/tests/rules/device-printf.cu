__device__ void f(int x) { printf("%d", x); } //~ check
__global__ void g(int x) { log.printf(x); } // no: a method
void host() { printf("done"); } // no: the host prints
