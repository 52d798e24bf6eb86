// The forms in which kernels for GPUs are written. tests/rtc/forms.rs has the expected results.
#include <hip/hip_runtime.h>

/* { ( [ brackets of a comment, and its words: __global__ void comment(int); */
static const char* const quoted = "__global__ void quoted(int*) { \" ";
static const char* const raw = R"x(__shared__ extern ) " { )x";

#define PASTE(a, b) a##b
#define DEFINE_FILL(T) \
    extern "C" __global__ void PASTE(fill_, T)(T* out, T value) { out[threadIdx.x] = value; }
DEFINE_FILL(int)
DEFINE_FILL(double)

extern "C" {
__constant__ float coefficients[4];
__device__ int counter = 40, steps[3] = {1, 2, 3}, *unused;
__device__ __managed__ long long managed{7};

__global__ void block_of_c(float* out) { out[threadIdx.x] = coefficients[threadIdx.x]; }
}

__device__ unsigned seen;
static __device__ int hidden = 11;
__device__ int function_of_device(int a, int b = 2) { return a * b; }
__device__ int declared_only(int);
__device__ __forceinline__ int declared_only(int a) { return a + 1; }
static inline __device__ __noinline__ int not_inlined(int a) { return a - 1; }
__host__ __device__ inline __forceinline__ constexpr int twice(int a) { return 2 * a; }

struct __align__(16) Parameters {
    int a;
    double b;
    __host__ __device__ Parameters(int a = 0, double b = 0) : a{a}, b(b) {}
    __device__ double sum() const { return a + b; }
    static __device__ int three() { return 3; }
};

extern "C" __global__ void __launch_bounds__(64) bounded(int* out) { out[threadIdx.x] = blockDim.x; }
extern "C" __launch_bounds__(2 * 32, 1) __global__ void bounded_first(int* out) { out[threadIdx.x] = 1; }

extern "C" __global__ void structures(Parameters p, double* out) {
    *out = p.sum() + Parameters::three() + twice(20) + function_of_device(100) + declared_only(6) + not_inlined(8);
}

// Dynamic shared memory inside a function: an array, one that is aligned, and two dimensions.
extern "C" __global__ void dynamic_local(int* out) {
    extern __shared__ int values[];
    values[threadIdx.x] = 10 * threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = values[blockDim.x - 1 - threadIdx.x];
}
extern "C" __global__ void dynamic_aligned(float* out) {
    extern __shared__ __align__(16) unsigned char bytes[];
    float4* whole = reinterpret_cast<float4*>(bytes);
    whole[threadIdx.x] = make_float4(threadIdx.x, 1, 2, 3);
    __syncthreads();
    out[threadIdx.x] = ((float*)bytes)[4 * (blockDim.x - 1 - threadIdx.x)] + sizeof(bytes[0]);
}
extern "C" __global__ void dynamic_rows(int* out) {
    extern volatile __shared__ int rows[][4];
    rows[threadIdx.x][threadIdx.x % 4] = threadIdx.x + 100;
    __syncthreads();
    int other = blockDim.x - 1 - threadIdx.x;
    out[threadIdx.x] = rows[other][other % 4];
}
extern "C" __global__ void dynamic_macro(int* out) {
    HIP_DYNAMIC_SHARED(int, words)
    words[threadIdx.x] = threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = words[(threadIdx.x + 1) % blockDim.x];
}

// The same at namespace scope, used by a function and shadowed by a parameter and by a local variable.
extern __shared__ double common_values[];
__device__ double first_of_common() { return common_values[0]; }
__device__ double parameter_of_that_name(double* common_values) { return common_values[1]; }
extern "C" __global__ void dynamic_common(double* out) {
    common_values[threadIdx.x] = threadIdx.x + 0.5;
    __syncthreads();
    double* last = &common_values[blockDim.x - 1];
    out[threadIdx.x] = first_of_common() + *last + parameter_of_that_name(common_values);
}
extern "C" __global__ void hides_common(double* out) {
    double common_values = 3;
    out[threadIdx.x] = common_values;
}

// Static shared memory: several arrays, of a template's type, in a non-kernel, with a leading specifier.
template <class T>
__device__ T reversed(T value) {
    __shared__ T all[256];
    all[threadIdx.x] = value;
    __syncthreads();
    T out = all[blockDim.x - 1 - threadIdx.x];
    __syncthreads();
    return out;
}
extern "C" __global__ void static_shared(double* out) {
    static __shared__ volatile int one[256], two;
    volatile __shared__ float three[4][64];
    one[threadIdx.x] = threadIdx.x;
    if (threadIdx.x == 0) two = 1000;
    three[threadIdx.x % 4][threadIdx.x / 4] = threadIdx.x;
    __syncthreads();
    int other = blockDim.x - 1 - threadIdx.x;
    out[threadIdx.x] = reversed((double)threadIdx.x) * 1e6 + reversed((short)one[threadIdx.x]) + two + three[other % 4][other / 4];
}

namespace outer {
namespace {
__global__ void anonymous(int* out) { *out = 1; }
}
inline namespace v1 {
namespace deep::er {
__global__ void nested(int* out, int add = 2, float scale = (1, 3.5f)) { *out = (int)(add * scale); }
}
}
// Overloads are distinguished by their parameters.
__global__ void overloaded(int* out) { *out = 1; }
__global__ void overloaded(float* out) { *out = 2; }
__device__ float in_namespace[2][3];

template <class T, int N = (3 > 2 ? 4 : 5)>
__global__ void __launch_bounds__(N * 16) bounded_template(T* out) {
    out[threadIdx.x] = N;
}
template <typename T>
struct Box {
    T value;
};
template <typename T, template <typename> class C = Box>
__global__ void of_templates(C<T> box, T* out) {
    *out = box.value;
}
template __global__ void of_templates<int>(Box<int> box, int* out);
template <>
__global__ void of_templates<double, Box>(Box<double> box, double* out) {
    *out = box.value * 2;
}
}  // namespace outer

extern "C" __global__ void lambdas(int* out) {
    auto add = [=] __device__(int a) { return a + (int)threadIdx.x; };
    [[maybe_unused]] int digits = 1'000;
    out[threadIdx.x] = add(digits);
}

extern "C" __global__ void variables(long long* out) {
    out[0] = atomicAdd(&counter, 2);
    out[1] = counter;
    out[2] = steps[0] + steps[1] + steps[2];
    out[3] = ++managed;
    out[4] = hidden;
    out[5] = seen;
    out[6] = quoted[0] == '_' && raw[1] == '_';
}

// Attributes instead of keywords, and Clang's vector types.
typedef float four __attribute__((ext_vector_type(4)));
using two = int __attribute__((ext_vector_type(2)));
extern "C" __attribute__((global)) void __attribute__((amdgpu_flat_work_group_size(1, 64))) vectors(float* out) {
    __attribute__((shared, aligned(16))) float all[4];
    four a = {1, 2, 3, 4};
    a = a * 2.0f + a;
    two b = {5, 6};
    all[threadIdx.x] = a[threadIdx.x] + b[threadIdx.x % 2];
    __syncthreads();
    out[threadIdx.x] = all[3 - threadIdx.x];
}
