__global__ void __launch_bounds__(256) a(int* x) {} // no: one argument
__global__ void __launch_bounds__(256, 1) b(int* x) {} // no: 1 is the default
__global__ void __launch_bounds__(256, 4) c(int* x) {} //~ check
template <int B> __global__ void __launch_bounds__(B * 32, (B > 2 ? 2 : 3)) d(int* x) {} //~ check
__global__ void __launch_bounds__(256, 2, 4) e(int* x) {} //~ breaks
__global__ void __launch_bounds__(2048) f(int* x) {} //~ check
