//! Launches by the builder: arguments are checked, and everything that a kernel uses stays alive until it is done.

use crate::under_test::{self, device, is_host, ordinals, platform, stream, two_devices};
use hip_safe::{Device, DeviceBuffer, Error, Function, LaunchConfig, Module, Stream};
use hip_sys::PlatformKind;
use kernels_hip::args::{Map1, Map2};

fn module(ordinal: usize) -> Module {
    under_test::module(&device(ordinal))
}

/// Both inputs tight.
fn tight(count: u64) -> Map2 {
    let mut dims = [0; 8];
    let mut strides = [0; 8];
    (dims[0], strides[0]) = (count, 1);
    Map2 { count, rank: 1, flags: 3, dims, a: strides, b: strides }
}

struct Operands {
    stream: Stream,
    a: DeviceBuffer<f32>,
    b: DeviceBuffer<f32>,
    out: DeviceBuffer<f32>,
}

fn operands(ordinal: usize, count: usize) -> Operands {
    let stream = device(ordinal).new_stream().unwrap();
    let a = stream.upload(&(0..count).map(|i| i as f32).collect::<Vec<_>>()).unwrap();
    let b = stream.upload(&vec![0.5_f32; count]).unwrap();
    let out = stream.alloc_zeros(count).unwrap();
    Operands { stream, a, b, out }
}

#[test]
fn a_kernel_adds() {
    for ordinal in ordinals() {
        let add = module(ordinal).function("elementwise_add_f32").unwrap();
        for count in [1, 255, 256, 257, 100_000] {
            let Operands { stream, a, b, mut out } = operands(ordinal, count);
            let (config, map) = (LaunchConfig::linear(count as u64, 256), tight(count as u64));
            // SAFETY: S9: the map spans exactly the three buffers.
            unsafe { stream.launch(&add, config).arg(&a).arg(&b).arg_mut(&mut out).value(&map).submit() }
                .unwrap();
            let expected: Vec<f32> = (0..count).map(|i| i as f32 + 0.5).collect();
            assert_eq!(stream.download(&out).unwrap(), expected, "{count} elements on device {ordinal}");
        }
    }
}

#[test]
fn a_launch_sees_views_values_and_addresses() {
    let add = module(0).function("elementwise_add_f32").unwrap();
    let Operands { stream, a, b, mut out } = operands(0, 100);
    let address = b.device_ptr();
    let (mut skipped, mut part) = out.split_at_mut(90).unwrap();
    let view = a.slice(20..30).unwrap();
    let mut launch = stream.launch(&add, LaunchConfig::linear(10, 32));
    launch.arg(&view).pointer(address.cast()).arg_mut(&mut part);
    // The value is gone before the launch: its bytes were copied.
    launch.value(&tight(10));
    // SAFETY: S9: ten elements of each are there.
    unsafe { launch.submit().unwrap() };
    // SAFETY: S9: the same once more.
    unsafe { launch.submit().unwrap() };
    stream.memset(&mut skipped, 0).unwrap();
    let mut expected = vec![0.0; 90];
    expected.extend((20..30).map(|i| i as f32 + 0.5));
    assert_eq!(stream.download(&out).unwrap(), expected);
}

#[test]
fn the_declared_arguments_are_known() {
    let add = module(0).function("elementwise_add_f32").unwrap();
    let params = add.params().expect("hip-host tells them");
    let found: Vec<_> = params.iter().map(|p| (p.offset, p.size)).collect();
    assert_eq!(found, [(0, 8), (8, 8), (16, 8), (24, size_of::<Map2>())]);
    assert_eq!((add.name(), add.device()), ("elementwise_add_f32", &device(0)));
}

fn mismatch(error: Error) -> String {
    assert!(matches!(error, Error::LaunchMismatch { .. }), "{error:?}");
    error.to_string()
}

#[test]
fn wrong_arguments_are_refused() {
    let add = module(0).function("elementwise_add_f32").unwrap();
    let Operands { stream, a, b, mut out } = operands(0, 4);
    let config = LaunchConfig::linear(4, 64);
    let map2 = size_of::<Map2>();
    // SAFETY: S9: nothing is launched.
    let few = unsafe { stream.launch(&add, config).arg(&a).arg(&b).arg_mut(&mut out).submit() }.unwrap_err();
    let expected = format!("kernel elementwise_add_f32 takes 4 arguments of 8, 8, 8, {map2} bytes");
    assert_eq!(mismatch(few), format!("{expected} and was given 3 arguments of 8, 8, 8 bytes"));
    // SAFETY: S9: nothing is launched.
    let none = unsafe { stream.launch(&add, config).submit() }.unwrap_err();
    assert_eq!(mismatch(none), format!("{expected} and was given no arguments"));
    let mut launch = stream.launch(&add, config);
    launch.arg(&a).arg(&b).arg_mut(&mut out).value(&tight(4)).value(&1_u32);
    // SAFETY: S9: nothing is launched.
    let many = mismatch(unsafe { launch.submit() }.unwrap_err());
    assert!(many.ends_with(&format!("5 arguments of 8, 8, 8, {map2}, 4 bytes")), "{many}");
    let mut launch = stream.launch(&add, config);
    launch.arg(&a).arg(&b).arg_mut(&mut out).value(&4_u32);
    // SAFETY: S9: nothing is launched.
    let small = mismatch(unsafe { launch.submit() }.unwrap_err());
    assert!(small.ends_with("4 arguments of 8, 8, 8, 4 bytes"), "{small}");
    assert_eq!(stream.download(&out).unwrap(), [0.0; 4], "nothing ran");
}

#[test]
fn operands_of_another_device_are_refused() {
    let add = module(0).function("elementwise_add_f32").unwrap();
    let Operands { stream, a, mut out, .. } = operands(0, 4);
    let Some((first, second)) = two_devices() else { return };
    let elsewhere = second.new_stream().unwrap();
    let theirs = elsewhere.upload(&[0.0_f32; 4]).unwrap();
    let config = LaunchConfig::linear(4, 64);
    let map = tight(4);
    let mut launch = stream.launch(&add, config);
    launch.arg(&a).arg(&theirs).arg_mut(&mut out).value(&map);
    for _ in 0..2 {
        // SAFETY: S9: nothing is launched.
        let error = unsafe { launch.submit() }.unwrap_err();
        assert!(
            matches!(error, Error::WrongDevice { what: "the buffer", bound, used }
                if bound == second.label() && used == first.label()),
            "{error:?}"
        );
    }
    // SAFETY: S9: nothing is launched.
    let error = unsafe { elsewhere.launch(&add, config).submit() }.unwrap_err();
    assert!(matches!(error, Error::WrongDevice { what: "the kernel", .. }), "{error:?}");
}

#[test]
fn limits_are_checked() {
    let add = module(0).function("elementwise_add_f32").unwrap();
    let Operands { stream, a, b, mut out } = operands(0, 4);
    let properties = stream.device().properties().clone();
    let map = tight(4);
    let mut refused = |grid, block, shared_bytes| {
        let mut launch = stream.launch(&add, LaunchConfig { grid, block, shared_bytes });
        launch.arg(&a).arg(&b).arg_mut(&mut out).value(&map);
        // SAFETY: S9: nothing is launched.
        match unsafe { launch.submit() }.unwrap_err() {
            Error::LaunchLimit { what, requested, .. } => (what, requested),
            other => panic!("{other:?}"),
        }
    };
    let threads = properties.max_threads_per_block;
    let shared = u32::try_from(properties.shared_memory_per_block).unwrap() + 1;
    assert_eq!(refused([0, 1, 1], [1, 1, 1], 0), ("the grid along x", 0));
    assert_eq!(refused([1, 1, 0], [1, 1, 1], 0), ("the grid along z", 0));
    assert_eq!(refused([1, 1, 1], [64, 0, 1], 0), ("the block along y", 0));
    assert_eq!(refused([1, 1, 1], [u32::MAX, 1, 1], 0), ("the block along x", u64::from(u32::MAX)));
    let product = ("the number of threads in a block", u64::from(threads) * 2);
    assert_eq!(refused([1, 1, 1], [threads, 2, 1], 0), product);
    assert_eq!(refused([1 << 30, 1, 1], [64, 1, 1], 0), ("grid times block along x", 1 << 36));
    assert_eq!(refused([1, 1, 1], [1, 1, 1], shared).0, "a block's shared memory in bytes");
}

#[test]
fn a_kernel_that_is_not_there() {
    let module = module(0);
    let not_found = |name: &str| match module.function(name).unwrap_err() {
        Error::KernelNotFound { kernel, .. } => assert_eq!(kernel, name),
        other => panic!("{other:?}"),
    };
    not_found("elementwise_ad_f32");
    not_found("");
    not_found("with\0inside");
    let error = module.function("nothing").unwrap_err().to_string();
    let host = platform().kind == PlatformKind::Host;
    let module = if host { "compiled host code of " } else { "a code object of " };
    assert!(error.starts_with(module) && error.contains("\"nothing\""), "{error}");
}

#[test]
fn a_function_keeps_its_module_and_a_module_its_launches() {
    for _ in 0..10 {
        let (stream, mut out, expected) = {
            let add: Function = {
                let module = module(0);
                module.function("elementwise_add_f32").unwrap()
            };
            let count = 200_000;
            let Operands { stream, a, b, mut out } = operands(0, count);
            let (config, map) = (LaunchConfig::linear(count as u64, 256), tight(count as u64));
            // SAFETY: S9: the map spans exactly the three buffers.
            unsafe { stream.launch(&add, config).arg(&a).arg(&b).arg_mut(&mut out).value(&map).submit() }
                .unwrap();
            // Function, module and inputs are dropped here, with the launch in flight.
            (stream, out, (0..count).map(|i| i as f32 + 0.5).collect::<Vec<_>>())
        };
        assert_eq!(stream.download(&out).unwrap(), expected);
        stream.memset(&mut out, 0).unwrap();
    }
}

#[test]
fn closing_a_module() {
    let module = module(0);
    let function = module.function("elementwise_neg_f32").unwrap();
    module.close().unwrap();
    let stream = stream();
    let (input, mut out) = (stream.upload(&[1.0_f32, -2.0]).unwrap(), stream.alloc_zeros::<f32>(2).unwrap());
    let mut strides = [0; 8];
    strides[0] = 1;
    let mut dims = [0; 8];
    dims[0] = 2;
    let map = Map1 { count: 2, rank: 1, contiguous: 1, dims, a: strides };
    let config = LaunchConfig::linear(2, 32);
    // SAFETY: S9: two elements of each are there.
    unsafe { stream.launch(&function, config).arg(&input).arg_mut(&mut out).value(&map).submit() }.unwrap();
    assert_eq!(stream.download(&out).unwrap(), [-1.0, 2.0]);
    let module = function.module().clone();
    drop(function);
    module.close().unwrap();
}

fn is_refused(device: &Device, bytes: &[u8], reason: &str) {
    match Module::load(device, bytes).unwrap_err() {
        Error::InvalidImage { reason: found, .. } => assert!(found.contains(reason), "{found}"),
        other => panic!("{other:?}"),
    }
}

#[test]
fn invalid_images_are_refused() {
    let device = device(0);
    for (bytes, reason) in [
        (&b""[..], "no code object"),
        (&[1, 0, 2][..], "no code object"),
        (b"\x7fELF", "no whole 64-bit ELF file"),
        (b"__CLANG_OFFLOAD_BUNDLE__\x01", "cut short"),
    ] {
        is_refused(&device, bytes, reason);
    }
    let cut = b"HIPHOSTM\xff\0\0\0cut";
    if !is_host() {
        // AMD's runtime is not given hip-host's own form; on others it is cut short before anybody asks what it is.
        let reason = if platform().kind == PlatformKind::Amd { "no code object" } else { "cut short" };
        return is_refused(&device, cut, reason);
    }
    is_refused(&device, cut, "cut short");
    // Well formed, and unknown to the platform.
    let error = Module::load(&device, &hip_host::image("no such module")).unwrap_err();
    assert!(error.to_string().contains("while loading host module \"no such module\""), "{error}");
}
