// Side effects of a kernel: printed lines, an abort, clocks.

extern "C" __global__ void print_line(int number) {
    if (threadIdx.x == 3) printf("block %d thread %d: %d %s %.2f %c %llx\n", (int)blockIdx.x, (int)threadIdx.x, number, "word",
                                 2.5, 'x', 0x123456789abcull);
}

extern "C" __global__ void print_each() {
    printf("line of %d in %d end\n", (int)threadIdx.x, (int)blockIdx.x);
}

extern "C" __global__ void give_up(int* out) {
    if (threadIdx.x == 2) abort();
    out[threadIdx.x] = 1;
}

// Polls each clock until it has advanced, a limited number of times.
extern "C" __global__ void clocks(long long* out, int most) {
    long long begin = clock64(), end = begin, wall_begin = wall_clock64(), wall_end = wall_begin;
    for (int i = 0; i < most && end <= begin; i++) end = clock64();
    for (int i = 0; i < most && wall_end <= wall_begin; i++) wall_end = wall_clock64();
    out[0] = begin, out[1] = end, out[2] = wall_begin, out[3] = wall_end;
}
