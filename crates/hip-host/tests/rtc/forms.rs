//! The forms in which kernels for GPUs are written: forms.hip, compiled unchanged.

use crate::common::{Hip, Shape, hip, shape};
use crate::program::Program;
use hip_sys::hip::*;
use std::ffi::{CString, c_void};
use std::ptr::null_mut;
use std::sync::OnceLock;

const TEXT: &str = include_str!("forms.hip");

/// Name expressions of the tests, and their lowered names.
const EXPRESSIONS: [(&str, &str); 5] = [
    ("&outer::in_namespace", "_ZN5outer12in_namespaceE"),
    ("hidden", "_ZL6hidden"),
    ("&seen", "seen"),
    ("outer::bounded_template<int>", BOUNDED_4),
    ("outer::bounded_template<float, 2>", BOUNDED_2),
];
const BOUNDED_4: &str = "_ZN5outer16bounded_templateIiLi4EEEvPT_";
const BOUNDED_2: &str = "_ZN5outer16bounded_templateIfLi2EEEvPT_";

/// The image of forms.hip for device 0, compiled once.
fn image() -> &'static [u8] {
    static IMAGE: OnceLock<Vec<u8>> = OnceLock::new();
    IMAGE.get_or_init(|| {
        let program = Program::new(TEXT);
        EXPRESSIONS.iter().for_each(|(expression, _)| program.expect_name(expression));
        let image = program.compile(&["--offload-arch=host-w32"]);
        for (expression, name) in EXPRESSIONS {
            assert_eq!(program.lowered(expression), name);
        }
        image
    })
}

/// Loads the image as a module.
fn forms(hip: &Hip) -> hipModule_t {
    hip.load(image())
}

/// Runs a kernel with one argument, a buffer of `count` values, with one block, and returns what it wrote.
fn run<T: crate::common::Plain>(
    hip: &Hip,
    module: hipModule_t,
    name: &str,
    threads: u32,
    shared: u32,
) -> Vec<T> {
    let out = hip.zeros::<T>(threads as usize);
    let mut to = out.pointer;
    let shape = Shape { shared, ..shape(1, threads) };
    hip.launch(hip.find(module, name), shape, null_mut(), arguments![to]);
    hip.sync();
    out.read()
}

fn global(hip: &Hip, module: hipModule_t, name: &str) -> (*mut c_void, usize) {
    let (mut address, mut bytes, name) = (null_mut(), 0, CString::new(name).expect("no zero byte"));
    ok!(hip, hipModuleGetGlobal(&mut address, &mut bytes, module, name.as_ptr()));
    (address, bytes)
}

#[test]
fn kernels_from_macros() {
    let hip = hip();
    let module = forms(&hip);
    let ints = hip.zeros::<i32>(2);
    let (mut to, mut value) = (ints.pointer, 9_i32);
    hip.launch(hip.find(module, "fill_int"), shape(1, 2), null_mut(), arguments![to, value]);
    let doubles = hip.zeros::<f64>(2);
    let (mut to, mut value) = (doubles.pointer, 2.5_f64);
    hip.launch(hip.find(module, "fill_double"), shape(1, 2), null_mut(), arguments![to, value]);
    hip.sync();
    assert_eq!(ints.read(), [9, 9]);
    assert_eq!(doubles.read(), [2.5, 2.5]);
}

#[test]
fn variables_are_found_and_keep_their_values() {
    let hip = hip();
    let module = forms(&hip);
    let (coefficients, bytes) = global(&hip, module, "coefficients");
    assert_eq!(bytes, 16);
    let values = [1.0_f32, 2.0, 4.0, 8.0];
    let kind = hipMemcpyKind::hipMemcpyHostToDevice;
    ok!(hip, hipMemcpy(coefficients, values.as_ptr().cast(), 16, kind));
    assert_eq!(run::<f32>(&hip, module, "block_of_c", 4, 0), values);
    let names = ["counter", "steps", "unused", "managed", "_ZN5outer12in_namespaceE", "_ZL6hidden", "seen"];
    assert_eq!(names.map(|name| global(&hip, module, name).1), [4, 12, 8, 8, 24, 4, 4]);
    // A function is not a variable.
    let mut address = null_mut();
    let absent =
        call!(hip, hipModuleGetGlobal(&mut address, null_mut(), module, c"function_of_device".as_ptr()));
    assert_eq!(absent, 500);
}

#[test]
fn each_load_has_variables_of_its_own() {
    let hip = hip();
    let run = |module| {
        let out = hip.zeros::<i64>(7);
        let mut to = out.pointer;
        hip.launch(hip.find(module, "variables"), shape(1, 1), null_mut(), arguments![to]);
        hip.sync();
        out.read()
    };
    let (first, second) = (forms(&hip), forms(&hip));
    assert_eq!(run(first), [40, 42, 6, 8, 11, 0, 1]);
    assert_eq!(run(first), [42, 44, 6, 9, 11, 0, 1]);
    assert_eq!(run(second), [40, 42, 6, 8, 11, 0, 1]);
}

#[test]
fn launch_bounds_are_the_most_threads() {
    let hip = hip();
    let module = forms(&hip);
    let most = |name: &str| {
        let (mut value, function) = (0, hip.find(module, name));
        let attribute = hipFunction_attribute::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK;
        ok!(hip, hipFuncGetAttribute(&mut value, attribute, function));
        value
    };
    let kernels = ["bounded", "bounded_first", "structures", BOUNDED_4, BOUNDED_2];
    assert_eq!(kernels.map(most), [64, 64, 1024, 64, 32]);
    assert_eq!(run::<i32>(&hip, module, "bounded", 64, 0)[63], 64);
    let out = hip.zeros::<i32>(65);
    let mut to = out.pointer;
    let bounded = hip.find(module, "bounded");
    assert_eq!(hip.launch_code(bounded, shape(1, 65), null_mut(), arguments![to]), 1);
}

#[test]
fn structures_and_functions() {
    let hip = hip();
    let module = forms(&hip);
    let out = hip.zeros::<f64>(1);
    // The int is at offset 0, the double at 8; the total is aligned to 16.
    let mut bytes = [0_u8; 16];
    bytes[..4].copy_from_slice(&5_i32.to_le_bytes());
    bytes[8..].copy_from_slice(&0.25_f64.to_le_bytes());
    let mut to = out.pointer;
    hip.launch(hip.find(module, "structures"), shape(1, 1), null_mut(), arguments![bytes, to]);
    hip.sync();
    // 5 + 0.25, 3, 2 * 20, 100 * 2, 6 + 1, 8 - 1.
    assert_eq!(out.read(), [262.25]);
}

#[test]
fn dynamic_shared_memory_in_all_its_forms() {
    let hip = hip();
    let module = forms(&hip);
    assert_eq!(run::<i32>(&hip, module, "dynamic_local", 4, 16), [30, 20, 10, 0]);
    // The mirrored thread's number and the size of a byte.
    assert_eq!(run::<f32>(&hip, module, "dynamic_aligned", 3, 48), [3.0, 2.0, 1.0]);
    assert_eq!(run::<i32>(&hip, module, "dynamic_rows", 5, 80), [104, 103, 102, 101, 100]);
    assert_eq!(run::<i32>(&hip, module, "dynamic_macro", 3, 12), [1, 2, 0]);
    // 0.5 + 3.5 + 1.5.
    assert_eq!(run::<f64>(&hip, module, "dynamic_common", 4, 32), [5.5; 4]);
    assert_eq!(run::<f64>(&hip, module, "hides_common", 2, 0), [3.0; 2]);
}

#[test]
fn static_shared_memory_in_all_its_forms() {
    let hip = hip();
    let module = forms(&hip);
    let out = run::<f64>(&hip, module, "static_shared", 256, 0);
    // With m = 255 - t: m * 1e6 + m + 1000 + m.
    let expected: Vec<f64> = (0..256).map(|t| f64::from(255 - t) * 1_000_002.0 + 1000.0).collect();
    assert_eq!(out, expected);
}

#[test]
fn namespaces_overloads_and_instances_have_mangled_names() {
    let hip = hip();
    let module = forms(&hip);
    let one = |name: &str| run::<i32>(&hip, module, name, 1, 0)[0];
    assert_eq!(one("_ZN5outer12_GLOBAL__N_19anonymousEPi"), 1);
    assert_eq!(one("_ZN5outer10overloadedEPi"), 1);
    assert_eq!(run::<f32>(&hip, module, "_ZN5outer10overloadedEPf", 1, 0), [2.0]);
    let out = hip.zeros::<i32>(1);
    let (mut to, mut add, mut scale) = (out.pointer, 4_i32, 2.5_f32);
    let nested = hip.find(module, "_ZN5outer2v14deep2er6nestedEPiif");
    hip.launch(nested, shape(1, 1), null_mut(), arguments![to, add, scale]);
    hip.sync();
    assert_eq!(out.read(), [10]);
    // An explicit instantiation, and an explicit specialisation.
    let (mut value, mut double) = (21_i32, 4.5_f64);
    let instance = "_ZN5outer12of_templatesIiNS_3BoxEEEvT0_IT_EPS3_";
    hip.launch(hip.find(module, instance), shape(1, 1), null_mut(), arguments![value, to]);
    let doubles = hip.zeros::<f64>(1);
    let mut to = doubles.pointer;
    let special = "_ZN5outer12of_templatesIdNS_3BoxEEEvT0_IT_EPS3_";
    hip.launch(hip.find(module, special), shape(1, 1), null_mut(), arguments![double, to]);
    hip.sync();
    assert_eq!((out.read(), doubles.read()), (vec![21], vec![9.0]));
}

#[test]
fn lambdas_and_literals() {
    let hip = hip();
    let module = forms(&hip);
    assert_eq!(run::<i32>(&hip, module, "lambdas", 3, 0), [1000, 1001, 1002]);
}

#[test]
fn attributes_and_vectors_of_clang() {
    let hip = hip();
    let module = forms(&hip);
    // 3 * 4 + 6, 3 * 3 + 5, 3 * 2 + 6, 3 * 1 + 5.
    assert_eq!(run::<f32>(&hip, module, "vectors", 4, 0), [18.0, 14.0, 12.0, 8.0]);
}
