__global__ void f(long long* x) {
    x[0] = clock64(); //~ check
    x[1] = clock(); //~ check
    x[2] = __globaltimer(); //~ breaks
    x[3] = wall_clock64(); // no: HIP's own
}
int main() { return clock() != 0; } // no: the host's clock
