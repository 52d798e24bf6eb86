// Constant memory, variables, and arguments of every form.

__constant__ int table[16];
__constant__ float weights[4] = {0.5f, 0.25f, 0.125f, 2.0f};
__device__ int counter = 5;
__device__ double grid[2][3] = {{1, 2, 3}, {4, 5, 6}};

extern "C" __global__ void from_table(int* out) { out[threadIdx.x] = table[threadIdx.x % 16] + 1; }

extern "C" __global__ void weighted(float* out) { out[threadIdx.x] = weights[threadIdx.x % 4] * threadIdx.x; }

extern "C" __global__ void count_up(int* out) {
    out[threadIdx.x] = atomicAdd(&counter, 1);
}

extern "C" __global__ void scale_grid(double factor) {
    if (threadIdx.x < 6) grid[threadIdx.x / 3][threadIdx.x % 3] *= factor;
}

struct Mixed {
    double weights[3];
    char tag;
};

extern "C" __global__ void mixed_arguments(char a, double b, short c, Mixed d, float e, double* out, unsigned char f) {
    if (threadIdx.x != 0) return;
    out[0] = a, out[1] = b, out[2] = c, out[3] = d.weights[2], out[4] = d.tag, out[5] = e, out[6] = f;
}

struct Padded {
    char first;
    double second;
    char third;
    short fourth;
    long long fifth;
    unsigned char last[5];
};

// A structure with padding, between two numbers.
extern "C" __global__ void padded(int before, Padded p, int after, long long* out) {
    if (threadIdx.x != 0) return;
    out[0] = before, out[1] = p.first, out[2] = (long long)(4 * p.second), out[3] = p.third, out[4] = p.fourth;
    out[5] = p.fifth, out[6] = p.last[0] + 10 * p.last[4], out[7] = after, out[8] = sizeof(Padded);
}

struct Layout {
    long long shape[8];
    int stride[8];
    int rank;
};

// The offset of each element of a view with `rank` dimensions.
extern "C" __global__ void strided(Layout layout, int* out) {
    long long left = threadIdx.x, offset = 0;
    for (int d = layout.rank - 1; d >= 0; d--) {
        offset += left % layout.shape[d] * layout.stride[d];
        left /= layout.shape[d];
    }
    out[threadIdx.x] = (int)offset;
}

// A structure that a thread changes stays private to the thread.
extern "C" __global__ void own_copy(Layout layout, int* out) {
    layout.stride[0] += threadIdx.x;
    layout.rank = layout.stride[0] * 2;
    out[threadIdx.x] = layout.rank;
}

struct Node {
    int value;
    Node* next;
};

// Follows pointers from node to node.
extern "C" __global__ void follow(Node* nodes, int* out, int count) {
    if (threadIdx.x == 0) {
        for (int i = 0; i < count; i++) {
            nodes[i].value = i * i;
            nodes[i].next = i + 3 < count ? &nodes[i + 3] : 0;
        }
    }
    __syncthreads();
    int sum = 0;
    for (Node* node = &nodes[threadIdx.x]; node; node = node->next) sum += node->value;
    out[threadIdx.x] = sum;
}

extern "C" __global__ void many_arguments(int a, char b, int c, short d, long long e, char f, float g, char h, double i, char j,
                                          int* out, short k, int l, char m) {
    if (threadIdx.x != 0) return;
    out[0] = a, out[1] = b, out[2] = c, out[3] = d, out[4] = (int)(e >> 32), out[5] = f, out[6] = (int)(2 * g);
    out[7] = h, out[8] = (int)(4 * i), out[9] = j, out[10] = k, out[11] = l, out[12] = m;
}

// Loads and stores of sixteen bytes.
extern "C" __global__ void vectors(const float4* in, float4* out, const int2* pairs, int2* swapped) {
    int i = blockIdx.x * blockDim.x + threadIdx.x;
    float4 v = in[i];
    out[i] = make_float4(v.w, v.z, v.y, v.x);
    swapped[i] = make_int2(pairs[i].y, pairs[i].x);
}

// A large private array of each thread.
extern "C" __global__ void own_array(int* out) {
    int cells[200];
    for (int i = 0; i < 200; i++) cells[i] = i * (int)threadIdx.x;
    int sum = 0;
    for (int i = 0; i < 200; i += (int)threadIdx.x % 3 + 1) sum += cells[i];
    out[threadIdx.x] = sum;
}
