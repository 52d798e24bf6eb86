//! Launch functions made by `kernel!`: safe for those who call them, checked when they are loaded.

use crate::under_test::{device, module, two_devices};
use hip_safe::{DeviceSlice, Error, LaunchConfig, Source, kernel};
use kernels_hip::args::Map2;

kernel! {
    /// Adds two arrays.
    pub(crate) kernel Add = "elementwise_add_f32"(a: &[f32], b: &[f32], out: &mut [f32], map: Map2)
    audit unsafe { "thread i handles the elements i, i + threads, … below map.count, at the offsets that the map gives" }
    require |config| {
        map.rank == 1 && map.flags == (Map2::A_TIGHT | Map2::B_TIGHT),
        map.count as usize <= a.len().min(b.len()),
        map.count as usize <= out.len(),
        config.block[1] == 1 && config.block[2] == 1,
    }
}

kernel! {
    /// A kernel takes what it declares, and not this.
    kernel TooFew = "elementwise_add_f32"(a: &[f32], b: &[f32], out: &mut [f32])
    audit unsafe { "it is never launched" }
}

kernel! {
    kernel OtherSize = "elementwise_add_f32"(a: &[f32], b: &[f32], out: &mut [f32], map: u64,)
    audit unsafe { "it is never launched" }
}

kernel! {
    kernel Missing = "elementwise_ad_f32"()
    audit unsafe { "it is never launched" }
}

kernel! {
    kernel Set = "set"(a: &mut [i32], value: i32)
    of { Source::new("extern \"C\" __global__ void set(int* a, int value) { *a = value; }") }
    audit unsafe { "one number is written, by every thread the same" }
    require { !a.is_empty() }
}

fn map(count: u64) -> Map2 {
    let (mut dims, mut strides) = ([0; 8], [0; 8]);
    (dims[0], strides[0]) = (count, 1);
    Map2 { count, rank: 1, flags: Map2::A_TIGHT | Map2::B_TIGHT, dims, a: strides, b: strides }
}

#[test]
fn a_kernel_is_launched_without_unsafe() {
    let device = device(0);
    // SAFETY: S9: the module is the one whose kernel was audited.
    let add = unsafe { Add::load(&module(&device)) }.unwrap();
    assert_eq!(add.function().name(), "elementwise_add_f32");
    let stream = device.new_stream().unwrap();
    let (a, b) = (stream.upload(&[1.0_f32, 2.0, 3.0, 4.0]).unwrap(), stream.upload(&[0.5_f32; 4]).unwrap());
    let mut out = stream.alloc_zeros::<f32>(4).unwrap();
    let config = LaunchConfig::linear(4, 64);
    add.launch(&stream, config, &a, &b, &mut out, map(4)).unwrap();
    assert_eq!(stream.download(&out).unwrap(), [1.5, 2.5, 3.5, 4.5]);
    // Views, and one buffer read twice.
    let view = a.slice(1..3).unwrap();
    add.clone().launch(&stream, config, &view, &view, &mut out.slice_mut(2..).unwrap(), map(2)).unwrap();
    assert_eq!(stream.download(&out).unwrap(), [1.5, 2.5, 4.0, 6.0]);
}

#[test]
fn a_condition_that_does_not_hold_is_named_and_nothing_runs() {
    let device = device(0);
    // SAFETY: S9: the module is the one whose kernel was audited.
    let add = unsafe { Add::load(&module(&device)) }.unwrap();
    let stream = device.new_stream().unwrap();
    let (a, mut out) = (stream.upload(&[1.0_f32; 4]).unwrap(), stream.alloc_zeros::<f32>(4).unwrap());
    let config = LaunchConfig::linear(4, 64);
    let mut refused = |config, count, read: usize, flags| {
        let part = a.slice(..read).unwrap();
        let map = Map2 { flags, ..map(count) };
        match add.launch(&stream, config, &a, &part, &mut out, map).unwrap_err() {
            Error::LaunchRefused { kernel: "elementwise_add_f32", condition } => condition,
            other => panic!("{other}"),
        }
    };
    assert_eq!(refused(config, 5, 4, 3), "map.count as usize <= a.len().min(b.len())");
    assert_eq!(refused(config, 4, 3, 3), "map.count as usize <= a.len().min(b.len())");
    assert_eq!(refused(config, 4, 4, 0), "map.rank == 1 && map.flags == (Map2::A_TIGHT | Map2::B_TIGHT)");
    let flat = LaunchConfig { block: [4, 2, 1], ..config };
    assert_eq!(refused(flat, 4, 4, 3), "config.block[1] == 1 && config.block[2] == 1");
    let mut short = stream.alloc_zeros::<f32>(3).unwrap();
    let error = add.launch(&stream, config, &a, &a, &mut short, map(4)).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel elementwise_add_f32 is not launched: map.count as usize <= out.len() does not hold"
    );
    assert_eq!(stream.download(&out).unwrap(), [0.0; 4]);
    assert_eq!(short.as_view().len(), 3);
}

#[test]
fn a_signature_mismatch_is_an_error_at_load_time() {
    let module = module(&device(0));
    // SAFETY: S9: nothing is launched.
    let few = unsafe { TooFew::load(&module) }.unwrap_err();
    let size = size_of::<Map2>();
    let expected =
        format!("kernel elementwise_add_f32 takes 4 arguments of 8, 8, 8, {size} bytes and was given ");
    assert_eq!(few.to_string(), format!("{expected}3 arguments of 8, 8, 8 bytes"));
    // SAFETY: S9: nothing is launched.
    let other = unsafe { OtherSize::load(&module) }.unwrap_err();
    assert_eq!(other.to_string(), format!("{expected}4 arguments of 8, 8, 8, 8 bytes"));
    // SAFETY: S9: nothing is launched.
    let missing = unsafe { Missing::load(&module) }.unwrap_err();
    assert!(matches!(missing, Error::KernelNotFound { .. }), "{missing}");
}

#[test]
fn an_audited_kernel_loads_its_own_code() {
    let device = device(0);
    let (set, again) = (Set::load(&device).unwrap(), Set::load(&device).unwrap());
    assert_eq!(set.function().module(), again.function().module(), "loaded once");
    let stream = device.new_stream().unwrap();
    let mut out = stream.alloc_zeros::<i32>(1).unwrap();
    set.launch(&stream, LaunchConfig::linear(1, 1), &mut out, -7).unwrap();
    assert_eq!(stream.download(&out).unwrap(), [-7]);
    let mut empty = stream.alloc_zeros::<i32>(0).unwrap();
    let error = set.launch(&stream, LaunchConfig::linear(1, 1), &mut empty, 1).unwrap_err();
    assert!(matches!(error, Error::LaunchRefused { condition: "!a.is_empty()", .. }), "{error}");
    let Some((_, second)) = two_devices() else { return };
    let elsewhere = second.new_stream().unwrap();
    let mut theirs = elsewhere.alloc_zeros::<i32>(1).unwrap();
    let error = set.launch(&elsewhere, LaunchConfig::linear(1, 1), &mut theirs, 1).unwrap_err();
    assert!(matches!(error, Error::WrongDevice { what: "the kernel", .. }), "{error}");
}
