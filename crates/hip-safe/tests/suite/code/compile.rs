//! The run-time compiler, on any platform.

use crate::under_test::{device, platform};
use hip_safe::{Error, Source};

const KERNEL: &str = "extern \"C\" __global__ void fill(float* a) { a[threadIdx.x] = 1; }";

#[test]
fn sources_that_a_compiler_cannot_take_are_refused() {
    let device = device(0);
    let arch = &device.properties().arch;
    let refused = |source: Source, words: &str| {
        let error = source.name("k.hip").compile(&platform(), arch).unwrap_err();
        assert!(matches!(&error, Error::InvalidSource { name, .. } if name == "k.hip"), "{error}");
        assert!(error.to_string().contains(words), "{error}");
    };
    refused(Source::new(""), "the text is empty");
    refused(Source::new("a\0b"), "the text has a zero byte");
    refused(Source::new(KERNEL).option("-DA\0"), "option \"-DA\\0\" has a zero byte");
    refused(Source::new(KERNEL).header("h\0", ""), "header \"h\\0\" has a zero byte");
    refused(Source::new(KERNEL).header("h", "\0"), "header \"h\" has a zero byte");
    refused(Source::new(KERNEL).name_expression("f\0"), "name expression \"f\\0\" has a zero byte");
    for option in [
        "--offload-arch=gfx90a",
        " --gpu-architecture=sm_90",
        "-arch=sm_90",
        "-mcpu=gfx90a",
        "--cuda-gpu-arch=gfx999",
        "-Xclang",
        "-Xarch_device",
        "@options.txt",
        "-O2 --offload-arch=gfx999",
    ] {
        refused(Source::new(KERNEL).option(option), "names an architecture");
    }
}

#[test]
fn names_of_templates_are_looked_up_in_the_module() {
    let device = device(0);
    let source = Source::new("template <class T> __global__ void fill(T* a, T value) { a[0] = value; }")
        .name_expression("fill<float>");
    let compiled = source.compile_for(&device).unwrap();
    let module = compiled.load(&device).unwrap();
    let fill = module.function(compiled.lowered_name("fill<float>").unwrap()).unwrap();
    assert_eq!(fill.params().unwrap().len(), 2);
    assert_eq!(module.function("fill<float>").unwrap().name(), fill.name());
    assert_eq!(module.compile_log(), Some(compiled.log()));
}

#[test]
fn the_log_comes_back() {
    let device = device(0);
    let source = Source::new("#error no such thing\n").name("wrong.hip");
    let error = source.compile_for(&device).unwrap_err();
    let Error::Compilation { name, arch, log } = &error else { panic!("{error}") };
    assert_eq!((name.as_str(), arch), ("wrong.hip", &device.properties().arch));
    assert!(log.contains("no such thing") && error.to_string().contains(log.as_str()), "{error}");
    let (major, minor) = hip_safe::compiler_version(device.platform()).unwrap();
    assert!(major > 0 && minor >= 0);
}
