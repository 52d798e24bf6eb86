//! Initialisation, versions, and which device is current.

use super::prelude::*;

pub(crate) const CASES: &[Case] = cases!("init/flags": zero, bad);
pub(crate) const VERSIONS: &[Case] =
    cases!("init/version": runtime, runtime_null_output, driver, driver_null_output);
pub(crate) const CURRENT: &[Case] = cases!(
    "init/current": count_null_output, some_device, null_output, negative, one_too_many,
    a_refusal_changes_nothing, every_device
);

fn zero(b: &Bench) -> Outcome {
    ok!(b, hipInit(0));
    Ok(())
}

fn bad(b: &Bench) -> Outcome {
    expect!(b, hipInit(1) => VALUE; hipInit(u32::MAX) => VALUE);
    Ok(())
}

/// The version is that of the opened platform.
fn runtime(b: &Bench) -> Outcome {
    let mut version = 0;
    ok!(b, hipRuntimeGetVersion(&mut version));
    same("the version", version, b.platform().raw_version)
}

fn runtime_null_output(b: &Bench) -> Outcome {
    expect!(b, hipRuntimeGetVersion(null_mut()) => VALUE);
    Ok(())
}

fn driver(b: &Bench) -> Outcome {
    let mut version = 0;
    ok!(b, hipDriverGetVersion(&mut version));
    ensure(version > 0, format!("the driver's version is {version}"))
}

fn driver_null_output(b: &Bench) -> Outcome {
    expect!(b, hipDriverGetVersion(null_mut()) => VALUE);
    Ok(())
}

fn count_null_output(b: &Bench) -> Outcome {
    expect!(b, hipGetDeviceCount(null_mut()) => VALUE);
    Ok(())
}

fn some_device(b: &Bench) -> Outcome {
    let count = b.devices()?;
    ensure(count >= 1, format!("{count} devices"))
}

fn null_output(b: &Bench) -> Outcome {
    expect!(b, hipGetDevice(null_mut()) => VALUE);
    Ok(())
}

fn negative(b: &Bench) -> Outcome {
    expect!(b, hipSetDevice(-1) => DEVICE; hipSetDevice(i32::MIN) => DEVICE);
    Ok(())
}

fn one_too_many(b: &Bench) -> Outcome {
    let count = b.devices()?;
    expect!(b, hipSetDevice(count) => DEVICE);
    Ok(())
}

/// A refused call does not change the current device.
fn a_refusal_changes_nothing(b: &Bench) -> Outcome {
    let (count, mut current) = (b.devices()?, -1);
    b.set_device(count - 1)?;
    expect!(b, hipSetDevice(count) => DEVICE; hipGetDevice(&mut current) => SUCCESS);
    same("the current device", current, count - 1)
}

fn every_device(b: &Bench) -> Outcome {
    for device in (0..b.devices()?).rev() {
        let mut current = -1;
        ok!(b, hipSetDevice(device); hipGetDevice(&mut current));
        same("the current device", current, device)?;
    }
    Ok(())
}
