//! The devices that were opened by name, one of each name in a process.

use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard, PoisonError};

use candle_core::{Error, Result};

use super::error::Candles;
use super::HipDevice;

static OPENED: Mutex<BTreeMap<String, HipDevice>> = Mutex::new(BTreeMap::new());

/// The platforms that [`HipDevice::new`](candle_core::backend::BackendDevice::new) tries, in order.
pub(super) const PLATFORMS: [&str; 3] = ["amd", "nvidia", "host"];

/// The device of a name, opened at the first call.
pub(super) fn by_name(name: &str) -> Result<HipDevice> {
    if let Some(device) = lock().get(name) {
        return Ok(device.clone());
    }
    // Nothing is locked while it is opened: that may call a subscriber of `tracing`, who asks for a device.
    let own = HipDevice::from_device(tensor_core::Device::parse(name).candles()?)?;
    let mut opened = lock();
    // "host" and "host:0" are one device, and another thread may have been quicker.
    let device = opened.entry(own.name().to_owned()).or_insert_with(|| own.clone()).clone();
    opened.insert(name.to_owned(), device.clone());
    drop(opened);
    Ok(device)
}

/// Device `ordinal` of the first platform that opens it.
pub(super) fn by_ordinal(ordinal: usize) -> Result<HipDevice> {
    let mut reasons = Vec::new();
    for platform in PLATFORMS {
        match by_name(&format!("{platform}:{ordinal}")) {
            Ok(device) => return Ok(device),
            Err(error) => reasons.push(error.to_string()),
        }
    }
    Err(Error::Msg(format!("no HIP device {ordinal}: {}", reasons.join("; "))).bt())
}

/// A panic elsewhere leaves whole devices behind.
fn lock() -> MutexGuard<'static, BTreeMap<String, HipDevice>> {
    OPENED.lock().unwrap_or_else(PoisonError::into_inner)
}
