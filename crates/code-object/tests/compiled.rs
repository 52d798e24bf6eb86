//! The output of compilers and bundlers, if they are installed; otherwise the tests are skipped with a
//! message.

#[path = "common/skip.rs"]
mod skip;
#[path = "common/tool.rs"]
mod tool;

use code_object::{AddressSpace, Bundle, CodeObject, Method, Object, Param, TargetId, ValueKind};
use skip::without_rocm;
use std::path::{Path, PathBuf};
use std::process::Command;
use tool::tool;

const SOURCE: &str = r#"
#include <hip/hip_runtime.h>
struct Map { unsigned long count; unsigned rank; };
extern "C" __global__ void __launch_bounds__(128)
blend(const float* a, const float* b, float* out, Map map, unsigned char flag) {
    __shared__ float staged[64];
    unsigned long i = blockIdx.x * (unsigned long)blockDim.x + threadIdx.x;
    staged[threadIdx.x & 63] = i < map.count ? a[i] : 0.0f;
    __syncthreads();
    if (i < map.count) out[i] = flag ? staged[threadIdx.x & 63] : b[i];
}
extern "C" __global__ void nothing() {}
"#;

/// Arguments of every kind, and a block size; needs no library of AMD's.
const OPENCL: &str = r#"
__attribute__((reqd_work_group_size(8, 4, 2))) kernel void
fixed(global const float* restrict a, constant int* c, local float* l, write_only image2d_t im, sampler_t s, int3 v, uchar f) {
    uint i = __builtin_amdgcn_workitem_id_x();
    l[i] = a[i];
    if (f) ((global float*)a)[v.x + c[i]] = l[i + 1];
}
"#;

struct Work(tempfile::TempDir);

impl Work {
    fn new(name: &str, text: &str) -> Self {
        let folder = tempfile::tempdir().expect("a temporary folder");
        std::fs::write(folder.path().join(name), text).expect("the source is written");
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// What a program wrote to `out`; `None` if the program is missing or does not know its options.
    fn run(&self, program: impl AsRef<Path>, args: &[&str]) -> Option<Vec<u8>> {
        let done = Command::new(program.as_ref()).args(args).current_dir(self.0.path()).output();
        if !done.is_ok_and(|output| output.status.success()) {
            return None;
        }
        Some(std::fs::read(self.path("out")).expect("the program wrote it"))
    }
}

fn hipcc(args: &[&str]) -> Option<Vec<u8>> {
    let args = [&["--genco", "-O2", "blend.hip", "-o", "out"], args].concat();
    Work::new("blend.hip", SOURCE).run(tool::hipcc(), &args)
}

fn opencl(version: u32) -> Option<Vec<u8>> {
    let version = format!("-mcode-object-version={version}");
    let language = ["-x", "cl", "-cl-std=CL2.0", "-Xclang", "-finclude-default-header", "-nogpulib", "-O2"];
    let target = ["-target", "amdgcn-amd-amdhsa", "-mcpu=gfx90a:xnack-", &version, "k.cl", "-o", "out"];
    Work::new("k.cl", OPENCL).run(tool("clang"), &[&language[..], &target].concat())
}

fn skipped(what: &str) {
    without_rocm(format!("no {what}"));
}

fn param(offset: usize, size: usize) -> Param {
    Param { offset, size }
}

fn target(code: &CodeObject) -> String {
    code.target.as_ref().map(ToString::to_string).unwrap_or_default()
}

#[test]
fn a_real_code_object_lists_its_kernels() {
    let Some(bytes) = hipcc(&["--offload-arch=gfx90a", "--no-gpu-bundle-output"]) else {
        return skipped("hipcc that builds for gfx90a");
    };
    let code = CodeObject::parse(&bytes).expect("it is whole").expect("it has metadata");
    assert_eq!((target(&code).as_str(), code.wave_size()), ("gfx90a", Some(64)));
    let blend = code.kernel("blend").expect("it is there");
    // Three pointers, a struct of 12 bytes padded to 16, one byte, by the layout rules of C.
    assert_eq!(blend.params, [param(0, 8), param(8, 8), param(16, 8), param(24, 16), param(40, 1)]);
    assert_eq!((blend.shared_bytes, blend.max_threads_per_block, blend.required_block), (256, 128, None));
    assert!(blend.kernarg_bytes >= 41 && blend.vector_registers > 0 && blend.vector_spills == 0, "{blend:?}");
    assert_eq!(blend.arguments[0].kind, ValueKind::GlobalBuffer);
    assert_eq!(blend.arguments[0].address_space, Some(AddressSpace::Global));
    assert_eq!(blend.arguments[3].kind, ValueKind::ByValue);
    assert_eq!(code.kernel("nothing").expect("it is there").params, []);
    assert!(code.kernel("blen").is_none());
    assert!(CodeObject::parse(&bytes[..bytes.len() - 1]).is_err(), "the section table is cut");
}

#[test]
fn each_version_of_hips_code_objects_is_read() {
    for version in 4..=6 {
        let option = format!("-mcode-object-version={version}");
        let Some(bytes) = hipcc(&["--offload-arch=gfx90a", &option]) else { return skipped("hipcc") };
        let bundle = Bundle::parse(&bytes).expect("it is whole");
        let device = TargetId::parse("gfx90a:sramecc+:xnack-").expect("well formed");
        let entry = bundle.best_for(&device).expect("it is for the device");
        let code = entry.code_object().expect("it is whole").expect("it has metadata");
        assert_eq!((u32::from(code.version), code.kernels.len()), (version, 2));
    }
}

#[test]
fn a_bundle_has_a_code_object_for_each_feature() {
    let archs = ["gfx90a:xnack+", "gfx90a:xnack-", "gfx1030"].map(|arch| format!("--offload-arch={arch}"));
    let Some(bytes) = hipcc(&archs.each_ref().map(String::as_str)) else { return skipped("hipcc") };
    let bundle = Bundle::parse(&bytes).expect("it is whole");
    for (device, found) in [
        ("gfx90a:sramecc+:xnack-", Some("gfx90a:xnack-")),
        ("gfx90a:sramecc+:xnack+", Some("gfx90a:xnack+")),
        ("gfx1030", Some("gfx1030")),
        ("gfx1100", None),
    ] {
        let best = bundle.best_for(&TargetId::parse(device).expect("well formed"));
        let code = best.map(|entry| entry.code_object().expect("it is whole").expect("it has metadata"));
        assert_eq!(code.map(|code| target(&code)).as_deref(), found, "{device}");
    }
}

#[test]
fn every_kind_of_argument_is_read_in_each_version() {
    for version in 4..=6 {
        let Some(bytes) = opencl(version) else { return skipped("clang") };
        let code = CodeObject::parse(&bytes).expect("it is whole").expect("it has metadata");
        assert_eq!((u32::from(code.version), target(&code).as_str()), (version, "gfx90a:xnack-"));
        let kernel = code.kernel("fixed").expect("it is there");
        assert_eq!((kernel.required_block, kernel.max_threads_per_block), (Some([8, 4, 2]), 64));
        let kinds: Vec<ValueKind> = kernel.arguments.iter().map(|argument| argument.kind).take(7).collect();
        let (buffer, value) = (ValueKind::GlobalBuffer, ValueKind::ByValue);
        let objects = [Object::Image, Object::Sampler].map(ValueKind::Object);
        assert_eq!(
            kinds,
            [buffer, buffer, ValueKind::DynamicSharedPointer, objects[0], objects[1], value, value]
        );
        assert_eq!(kernel.arguments[2].pointee_align, Some(4));
        assert_eq!(kernel.arguments[5].type_name.as_deref(), Some("int3"));
        assert_eq!((kernel.params[5], kernel.params[6]), (param(48, 16), param(64, 1)));
    }
}

#[test]
fn llvms_compressed_bundle_is_read() {
    let Some(object) = opencl(5) else { return skipped("clang") };
    let work = Work::new("host", "");
    std::fs::write(work.path("object"), &object).expect("a writable folder");
    let targets = "-targets=host-x86_64-unknown-linux-gnu,hipv4-amdgcn-amd-amdhsa--gfx90a:xnack-";
    let files = ["-type=o", "-compress", "-input=host", "-input=object", "-output=out"];
    let Some(bytes) = work.run(tool("clang-offload-bundler"), &[&files[..], &[targets]].concat()) else {
        return skipped("clang-offload-bundler");
    };
    let bundle = Bundle::parse(&bytes).expect("it is whole");
    assert!(matches!(bundle.compression(), Some(Method::Zstd | Method::Zlib)));
    let entry =
        bundle.best_for(&TargetId::parse("gfx90a:xnack-").expect("well formed")).expect("it is there");
    assert_eq!(entry.bytes, object);
    assert!(entry.code_object().is_ok_and(|code| code.is_some()));
}

/// Two files linked into one by LLVM's linker without options: each contributes its note.
#[test]
fn two_files_linked_into_one_have_the_kernels_of_both() {
    let source = |name: &str| format!("kernel void {name}(global int* p) {{ *p = 1; }}");
    let work = Work::new("a.cl", &source("first"));
    std::fs::write(work.path("b.cl"), source("second")).expect("a writable folder");
    let options = ["-x", "cl", "-cl-std=CL2.0", "-nogpulib", "-target", "amdgcn-amd-amdhsa", "-mcpu=gfx1100"];
    for name in ["a", "b"] {
        let file = format!("{name}.cl");
        if work.run(tool("clang"), &[&options[..], &["-c", &file, "-o", "out"]].concat()).is_none() {
            return skipped("clang");
        }
        std::fs::rename(work.path("out"), work.path(&format!("{name}.o"))).expect("it was written");
    }
    let Some(bytes) = work.run(tool("ld.lld"), &["-shared", "a.o", "b.o", "-o", "out"]) else {
        return skipped("ld.lld");
    };
    assert_eq!(bytes.windows(8).filter(|&w| w == b"AMDGPU\0\0").count(), 2, "there are two notes");
    let code = CodeObject::parse(&bytes).expect("it is whole").expect("it has metadata");
    assert_eq!(code.kernels.len(), 2);
    assert!(code.kernel("first").is_some() && code.kernel("second").is_some());
}

#[test]
fn files_that_are_no_amd_code_objects() {
    assert!(CodeObject::parse(b"").is_err());
    assert!(CodeObject::parse(b"not an ELF file").is_err());
    // This test program is an ELF file of another machine.
    let path = std::env::current_exe().expect("this program has a path");
    assert_eq!(CodeObject::parse(&std::fs::read(path).expect("it can be read")), Ok(None));
}
