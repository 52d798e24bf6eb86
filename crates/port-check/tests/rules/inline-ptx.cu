__device__ int f(int x) {
    asm volatile("mov.u32 %0, %%laneid;" : "=r"(x)); //~ breaks
    asm("cp.async.wait_all;"); //~ breaks
    asm volatile("" ::: "memory"); // no: nothing but a barrier for the compiler
    asm volatile("s_waitcnt vmcnt(0)"); // no: AMD's instruction
    const char* asm_text = "mov.u32"; // no: a string
    return x;
}
