__device__ int f(int p) {
    unsigned mask = __ballot_sync(~0ull, p); //~ breaks
    const uint32_t active = __activemask(); //~ breaks
    unsigned long long wide = __ballot_sync(~0ull, p); // no: 64 bits
    auto all = __ballot_sync(~0ull, p);
    int few = __popc(all); //~ breaks
    int more = __popcll(all); // no: the function for 64 bits
    int first = __ffs(__ballot_sync(~0ull, p)); //~ breaks
    return __popc(p); // no: not a ballot
}
