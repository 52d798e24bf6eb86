//! A wrong id is an error of the next call that reads from its device, whichever that is: so this is a program with one test.

use candle_core::backend::{BackendDevice, BackendStorage};
use candle_core::{CpuStorage, DType, Error, Layout, Result};
use candle_hip::{HipDevice, HipStorage};

/// Storage of these numbers, and its layout.
fn list(device: &HipDevice, elements: &[f64], dtype: DType) -> (HipStorage, Layout) {
    let l = Layout::contiguous(elements.len());
    let wide = device.storage_from_slice(elements).expect("an upload");
    (wide.to_dtype(&l, dtype).expect("a cast"), l)
}

fn assert_wrong<T>(what: &str, result: Result<T>) {
    let mut error = result.map(|_| ()).expect_err("a wrong id");
    // candle adds a backtrace where `RUST_BACKTRACE` asks for it.
    while let Error::WithBacktrace { inner, .. } = error {
        error = *inner;
    }
    assert!(matches!(error, Error::InvalidIndex { index: 3, size: 3, .. }), "{what}: {error}");
}

#[test]
fn wrong_ids_are_errors_of_the_next_reading() {
    // As in the suite.
    let default = if cfg!(feature = "cuda") { "nvidia:0" } else { "host:0,host:1" };
    let named = std::env::var("CANDLE_HIP_DEVICES");
    for name in named.as_deref().unwrap_or(default).split(',') {
        let device = HipDevice::open(name).unwrap_or_else(|error| panic!("{name}: {error}"));
        let (x, l) = list(&device, &[1.0, 2.0, 3.0], DType::F32);
        let (wrong, _) = list(&device, &[0.0, 1.0, 3.0], DType::I64);
        let check = |what: &str, result: Result<HipStorage>| {
            let storage = result.expect("no error yet");
            assert_wrong(what, storage.to_cpu_storage());
            storage.to_cpu_storage().expect("the error was returned")
        };
        let numbers = |storage| if let CpuStorage::F32(numbers) = storage { numbers } else { Vec::new() };
        assert_eq!(numbers(check("gather", x.gather(&l, &wrong, &l, 0))), [1.0, 2.0, 0.0]);
        assert_eq!(numbers(check("index_select", x.index_select(&wrong, &l, &l, 0))), [1.0, 2.0, 0.0]);
        check("index_add", x.index_add(&l, &wrong, &l, &x, &l, 0));
        let mut y = x.try_clone(&l).expect("a clone");
        check("scatter_add", y.scatter_add_set(&l, &wrong, &l, &x, &l, 0).map(|()| y));

        // `synchronize` returns it too.
        let read = x.index_select(&wrong, &l, &l, 0).expect("no error yet");
        assert_wrong("synchronize", device.synchronize());
        drop(read);
        device.synchronize().expect("the error was returned");
    }
}
