//! The basic path: compile, load, look up, launch.

use crate::common::{hip, shape};
use crate::program::{Program, kernel};
use std::ptr::null_mut;

#[test]
fn a_kernel_with_barriers_and_warp_operations_runs_on_both_devices() {
    let hip = hip();
    let text = r#"
        #include <hip/hip_runtime.h>
        extern "C" __global__ void sums(const int* in, int* out) {
            __shared__ int part[32];
            int t = threadIdx.x, lane = t % warpSize, warp = t / warpSize;
            int v = in[blockIdx.x * blockDim.x + t];
            for (int d = warpSize / 2; d > 0; d /= 2) v += __shfl_down(v, d);
            if (lane == 0) part[warp] = v;
            __syncthreads();
            if (t == 0) {
                int sum = 0;
                for (int i = 0; i < blockDim.x / warpSize; i++) sum += part[i];
                out[2 * blockIdx.x] = sum;
                out[2 * blockIdx.x + 1] = warpSize;
            }
        }"#;
    for (device, wave) in [(0, 32), (1, 64)] {
        ok!(hip, hipSetDevice(device));
        let sums = kernel(&hip, text, "sums");
        let input = hip.buffer(&(0..512).collect::<Vec<i32>>());
        let out = hip.zeros::<i32>(4);
        let (mut from, mut to) = (input.pointer, out.pointer);
        hip.launch(sums, shape(2, 256), null_mut(), arguments![from, to]);
        hip.sync();
        // 0 + ... + 255 = 255 * 256 / 2, and 256 * 256 more in the second block.
        assert_eq!(out.read(), [32_640, wave, 98_176, wave]);
    }
    ok!(hip, hipSetDevice(0));
}

#[test]
fn templates_and_namespaces_through_name_expressions() {
    let hip = hip();
    let program = Program::new(
        "#include <hip/hip_runtime.h>\n\
         namespace ns {\n\
         template <class T, int N = 2> __global__ void scale(T* a) { a[threadIdx.x] *= N; }\n\
         __global__ void plain(int* a) { a[threadIdx.x] += 5; }\n\
         __constant__ int weights[3];\n\
         }\n",
    );
    for expression in ["ns::scale<float>", "&ns::scale<int, 3>", "ns::plain", "&ns::weights"] {
        program.expect_name(expression);
    }
    let module = hip.load(&program.compile(&[]));
    assert_eq!(program.lowered("ns::scale<float>"), "_ZN2ns5scaleIfLi2EEEvPT_");
    assert_eq!(program.lowered("&ns::scale<int, 3>"), "_ZN2ns5scaleIiLi3EEEvPT_");
    assert_eq!(program.lowered("ns::plain"), "_ZN2ns5plainEPi");
    assert_eq!(program.lowered("&ns::weights"), "_ZN2ns7weightsE");
    let floats = hip.buffer(&[1.5_f32, 2.0]);
    let ints = hip.buffer(&[7, 8]);
    let (mut f, mut i) = (floats.pointer, ints.pointer);
    let scale = hip.find(module, &program.lowered("ns::scale<float>"));
    hip.launch(scale, shape(1, 2), null_mut(), arguments![f]);
    let scale = hip.find(module, &program.lowered("&ns::scale<int, 3>"));
    hip.launch(scale, shape(1, 2), null_mut(), arguments![i]);
    let plain = hip.find(module, "_ZN2ns5plainEPi");
    hip.launch(plain, shape(1, 2), null_mut(), arguments![i]);
    hip.sync();
    assert_eq!(floats.read(), [3.0, 4.0]);
    assert_eq!(ints.read(), [26, 29]);
    let (mut address, mut bytes) = (null_mut(), 0);
    ok!(hip, hipModuleGetGlobal(&mut address, &mut bytes, module, c"_ZN2ns7weightsE".as_ptr()));
    assert_eq!(bytes, 12);
}

#[test]
fn all_of_hips_headers_may_be_included() {
    let headers =
        ["hip_runtime", "hip_runtime_api", "hip_fp16", "hip_cooperative_groups", "hip_vector_types"];
    let mut text: String = headers.iter().map(|name| format!("#include <hip/{name}.h>\n")).collect();
    text += "#include <algorithm>\n#include <cstdint>\n#include <limits>\n\
        extern \"C\" __global__ void k(__half* out) { *out = __float2half(std::max(1.5f, 0.5f)); }";
    let hip = hip();
    let k = kernel(&hip, &text, "k");
    let out = hip.zeros::<u32>(1);
    let mut to = out.pointer;
    hip.launch(k, shape(1, 1), null_mut(), arguments![to]);
    hip.sync();
    // 1.5 in half precision: exponent 15, mantissa one half.
    assert_eq!(out.read(), [0x3e00]);
}

#[test]
fn a_kernel_without_barriers_may_be_compiled_as_a_loop() {
    let hip = hip();
    let text =
        "extern \"C\" __global__ void k(int* a) { a[blockIdx.x * blockDim.x + threadIdx.x] += threadIdx.x; }";
    let module = hip.load(&Program::new(text).compile(&["-DHIPHOST_NO_BARRIERS"]));
    let a = hip.buffer(&[10; 4]);
    let mut to = a.pointer;
    hip.launch(hip.find(module, "k"), shape(2, 2), null_mut(), arguments![to]);
    hip.sync();
    assert_eq!(a.read(), [10, 11, 10, 11]);
    // In such a source the compiler reports a barrier as an error.
    let program = Program::new("extern \"C\" __global__ void k() { __syncthreads(); }");
    assert_eq!(program.try_compile(&["-DHIPHOST_NO_BARRIERS"]), 6);
    assert!(program.log().contains("__syncthreads"), "{}", program.log());
}

#[test]
fn no_kernel_is_lost_behind_other_declarations() {
    let hip = hip();
    let text = r#"
        #include <hip/hip_bf16.h>
        #include <hip/hip_bfloat16.h>
        #include <hip/hip_fp8.h>
        struct A {
            int v;
            __device__ A& operator<<=(int by);
        };
        __device__ A& A::operator<<=(int by) { v <<= by; return *this; }
        template <class T> __device__ bool operator!=(A a, T b) { return !(a.v == b); }
        __device__ bool operator==(A a, int b) { return a.v == b; }
        extern "C" __global__ auto trailing(int* out) -> void {
            A a{5};
            a <<= 2;
            out[0] = a.v + (a != 3) + (a == 20);
        }
        typedef void nothing;
        extern "C" __global__ nothing named(int* out) { out[1] = 2; }
        struct S {
            static __global__ void member(int* out) { out[2] = 3; }
        };
        extern "C" __attribute__((global)) void attribute(int* out) { out[3] = 4; }
        __device__ hip_bfloat16 sum(hip_bfloat16 a, __hip_bfloat16 b) { return hip_bfloat16((float)a + (float)b); }
        extern "C" __global__ void last(int* out) { out[4] = (int)(float)sum(hip_bfloat16(1.5f), 2); }"#;
    let module = hip.load(&Program::new(text).compile(&[]));
    let out = hip.zeros::<i32>(5);
    let mut to = out.pointer;
    for name in ["trailing", "named", "_ZN1S6memberEPi", "attribute", "last"] {
        hip.launch(hip.find(module, name), shape(1, 1), null_mut(), arguments![to]);
    }
    hip.sync();
    assert_eq!(out.read(), [22, 2, 3, 4, 3]);
}

#[test]
fn hiprtc_brings_half_precision_complex_numbers_groups_and_constants() {
    let hip = hip();
    let text = r#"
        extern "C" __global__ void k(float* out) {
            __half2 pair = 0;
            pair += 2;
            out[0] = __low2float(pair);
            out[1] = hipCabsf(make_hipFloatComplex(3, 4));
            out[2] = cooperative_groups::this_thread_block().size();
            out[3] = HIP_PI_F;
            out[4] = hip_bfloat16(1.0f / 3);
        }"#;
    let k = kernel(&hip, text, "k");
    let out = hip.zeros::<f32>(5);
    let mut to = out.pointer;
    hip.launch(k, shape(1, 1), null_mut(), arguments![to]);
    hip.sync();
    // A third in 8 bits: 171 / 512.
    assert_eq!(out.read(), [2.0, 5.0, 1.0, std::f32::consts::PI, 171.0 / 512.0]);
}
