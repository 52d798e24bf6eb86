//! Run-time compilation: HIP text, as it is written for GPUs, compiled and run. Every value is worked out by hand.

#[macro_use]
mod common;

use common::{Hip, hip, shape};
use hip_sys::RtcTable;
use hip_sys::hip::*;
use hip_sys::rtc::*;
use std::ffi::{CStr, CString, c_char};
use std::ptr::{null, null_mut};

/// Calls a function of hiprtc and gives the code.
macro_rules! rtc {
    ($name:ident($($argument:expr),* $(,)?)) => {{
        let function = table().$name;
        // SAFETY: S1, S11: the test hands over live places, or what the function must refuse.
        unsafe { function($($argument),*) }.0
    }};
}

fn table() -> RtcTable {
    hip_host::platform().rtc().expect("hip-host has hiprtc").clone()
}

/// A program, destroyed in the end.
struct Program(hiprtcProgram);

impl Drop for Program {
    fn drop(&mut self) {
        rtc!(hiprtcDestroyProgram(&mut self.0));
    }
}

impl Program {
    fn new(text: &str) -> Self {
        Self::with_headers(text, "kernel.hip", &[])
    }

    fn with_headers(text: &str, name: &str, headers: &[(&str, &str)]) -> Self {
        let c = |text: &str| CString::new(text).expect("no zero byte");
        let owned: Vec<_> = headers.iter().map(|(name, text)| (c(name), c(text))).collect();
        let mut names: Vec<_> = owned.iter().map(|(name, _)| name.as_ptr()).collect();
        let mut texts: Vec<_> = owned.iter().map(|(_, text)| text.as_ptr()).collect();
        let (text, name, mut program) = (c(text), c(name), null_mut());
        let count = headers.len() as i32;
        let (texts, names) = (texts.as_mut_ptr(), names.as_mut_ptr());
        assert_eq!(
            rtc!(hiprtcCreateProgram(&mut program, text.as_ptr(), name.as_ptr(), count, texts, names)),
            0
        );
        Self(program)
    }

    fn expect_name(&self, expression: &str) {
        let expression = CString::new(expression).expect("no zero byte");
        assert_eq!(rtc!(hiprtcAddNameExpression(self.0, expression.as_ptr())), 0);
    }

    /// Compiles; the code.
    fn try_compile(&self, options: &[&str]) -> u32 {
        let options: Vec<_> = options.iter().map(|o| CString::new(*o).expect("no zero byte")).collect();
        let mut list: Vec<*const c_char> = options.iter().map(|option| option.as_ptr()).collect();
        rtc!(hiprtcCompileProgram(self.0, list.len() as i32, list.as_mut_ptr()))
    }

    /// Compiles; the image.
    fn compile(&self, options: &[&str]) -> Vec<u8> {
        let code = self.try_compile(options);
        assert_eq!(code, 0, "{}", self.log());
        let mut size = 0;
        assert_eq!(rtc!(hiprtcGetCodeSize(self.0, &mut size)), 0);
        let mut image = vec![0_u8; size];
        assert_eq!(rtc!(hiprtcGetCode(self.0, image.as_mut_ptr().cast())), 0);
        image
    }

    fn log(&self) -> String {
        let mut size = 0;
        assert_eq!(rtc!(hiprtcGetProgramLogSize(self.0, &mut size)), 0);
        let mut log = vec![0_u8; size];
        assert_eq!(rtc!(hiprtcGetProgramLog(self.0, log.as_mut_ptr().cast())), 0);
        CStr::from_bytes_with_nul(&log).expect("ends in zero").to_string_lossy().into_owned()
    }

    fn lowered(&self, expression: &str) -> String {
        let (expression, mut name) = (CString::new(expression).expect("no zero byte"), null());
        assert_eq!(rtc!(hiprtcGetLoweredName(self.0, expression.as_ptr(), &mut name)), 0);
        // SAFETY: S11: the function gave a C string that lives as long as the program.
        unsafe { CStr::from_ptr(name) }.to_string_lossy().into_owned()
    }
}

fn load(hip: &Hip, image: &[u8]) -> hipModule_t {
    let mut module = null_mut();
    ok!(hip, hipModuleLoadData(&mut module, image.as_ptr().cast()));
    module
}

fn function(hip: &Hip, module: hipModule_t, name: &str) -> hipFunction_t {
    let (name, mut function) = (CString::new(name).expect("no zero byte"), null_mut());
    ok!(hip, hipModuleGetFunction(&mut function, module, name.as_ptr()));
    function
}

/// Compiles for the current device and gives one kernel.
fn kernel(hip: &Hip, text: &str, name: &str) -> hipFunction_t {
    let module = load(hip, &Program::new(text).compile(&[]));
    function(hip, module, name)
}

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
    let module = load(&hip, &program.compile(&[]));
    assert_eq!(program.lowered("ns::scale<float>"), "_ZN2ns5scaleIfLi2EEEvPT_");
    assert_eq!(program.lowered("&ns::scale<int, 3>"), "_ZN2ns5scaleIiLi3EEEvPT_");
    assert_eq!(program.lowered("ns::plain"), "_ZN2ns5plainEPi");
    assert_eq!(program.lowered("&ns::weights"), "_ZN2ns7weightsE");
    let floats = hip.buffer(&[1.5_f32, 2.0]);
    let ints = hip.buffer(&[7, 8]);
    let (mut f, mut i) = (floats.pointer, ints.pointer);
    let scale = function(&hip, module, &program.lowered("ns::scale<float>"));
    hip.launch(scale, shape(1, 2), null_mut(), arguments![f]);
    let scale = function(&hip, module, &program.lowered("&ns::scale<int, 3>"));
    hip.launch(scale, shape(1, 2), null_mut(), arguments![i]);
    let plain = function(&hip, module, "_ZN2ns5plainEPi");
    hip.launch(plain, shape(1, 2), null_mut(), arguments![i]);
    hip.sync();
    assert_eq!(floats.read(), [3.0, 4.0]);
    assert_eq!(ints.read(), [26, 29]);
    let (mut address, mut bytes) = (null_mut(), 0);
    ok!(hip, hipModuleGetGlobal(&mut address, &mut bytes, module, c"_ZN2ns7weightsE".as_ptr()));
    assert_eq!(bytes, 12);
}
