//! Occupancy and attributes of kernels.

use crate::under_test::{device, module, ordinals, stream};
use hip_safe::{Error, LaunchConfig};
use hip_sys::PlatformKind;

#[test]
fn blocks_that_fit_at_once() {
    for ordinal in ordinals() {
        let device = device(ordinal);
        let (module, properties) = (module(&device), device.properties());
        let fill = module.function("elementwise_fill_f32").unwrap();
        let one_wave = fill.occupancy(properties.wave_size, 0).unwrap();
        // What the kernel was compiled for: AMD's may be for less than the device has.
        let most = fill.max_threads_per_block().unwrap_or(properties.max_threads_per_block);
        let large = fill.occupancy(most, 0).unwrap();
        assert!(large >= 1 && one_wave > large, "{one_wave} and {large}");
        assert!(large * most <= properties.max_threads_per_multiprocessor, "{large}");
        let half = u32::try_from(properties.shared_memory_per_block / 2).unwrap();
        assert!(fill.occupancy(64, half).unwrap() < fill.occupancy(64, 0).unwrap());
        assert!(fill.occupancy(1025, 0).is_err() || fill.occupancy(1025, 0).unwrap() == 0);
    }
}

#[test]
fn the_suggested_block_can_be_launched() {
    let stream = stream();
    let module = module(stream.device());
    let fill = module.function("elementwise_fill_f32").unwrap();
    let suggested = fill.suggested_block(0).unwrap();
    let most = stream.device().properties().max_threads_per_block;
    assert!((1..=most).contains(&suggested.block) && suggested.grid > 0, "{suggested:?}");
    let (grid, block) = ([suggested.grid, 1, 1], [suggested.block, 1, 1]);
    let mut buffer = stream.alloc_zeros::<f32>(10_000).unwrap();
    let mut launch = stream.launch(&fill, LaunchConfig { grid, block, shared_bytes: 0 });
    launch.arg_mut(&mut buffer).value(&10_000_u64).value(&2.5_f32);
    // SAFETY: S9: the kernel fills that many elements with a grid of any size.
    unsafe { launch.submit() }.unwrap();
    assert_eq!(stream.download(&buffer).unwrap(), [2.5; 10_000]);
}

#[test]
fn attributes_of_a_kernel() {
    let device = device(0);
    let fill = module(&device).function("elementwise_fill_f32").unwrap();
    let attributes = fill.attributes().unwrap();
    let threads = attributes.max_threads_per_block.unwrap();
    assert!((64..=device.properties().max_threads_per_block).contains(&threads), "{attributes:?}");
    assert_eq!(attributes.shared_bytes, Some(0));
    assert!(attributes.registers.is_some() && attributes.local_bytes.is_some(), "{attributes:?}");
}

#[test]
fn more_shared_memory_needs_a_request() {
    let stream = stream();
    let module = module(stream.device());
    let fill = module.function("elementwise_fill_f32").unwrap();
    let usual = u32::try_from(stream.device().properties().shared_memory_per_block).unwrap();
    let mut buffer = stream.alloc_zeros::<f32>(64).unwrap();
    let mut try_with = |shared_bytes| {
        let mut launch = stream.launch(&fill, LaunchConfig { shared_bytes, ..LaunchConfig::linear(64, 64) });
        launch.arg_mut(&mut buffer).value(&64_u64).value(&1.5_f32);
        // SAFETY: S9: the kernel fills that many elements and uses no shared memory.
        unsafe { launch.submit() }
    };
    try_with(usual).unwrap();
    let more = usual + 4096;
    let refused = try_with(more).unwrap_err();
    assert!(
        matches!(refused, Error::LaunchLimit { requested, .. } if requested == u64::from(more)),
        "{refused}"
    );
    // Cards of NVIDIA have more for those that ask. Elsewhere the driver refuses, or the launch.
    match fill.allow_dynamic_shared(more) {
        Ok(()) => {
            let launched = try_with(more);
            let answered = matches!(&launched, Ok(()) | Err(Error::Hip { .. }));
            assert!(answered, "the driver decides, not we: {launched:?}");
        }
        Err(error) => {
            assert_ne!(stream.device().platform().kind, PlatformKind::Nvidia, "{error}");
            assert!(matches!(try_with(more), Err(Error::LaunchLimit { .. })), "{error}");
        }
    }
    assert!(fill.allow_dynamic_shared(u32::MAX).is_err());
    stream.synchronize().unwrap();
}
