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
    let mut opened = lock();
    if let Some(device) = opened.get(name) {
        return Ok(device.clone());
    }
    let device = HipDevice::from_device(tensor_core::Device::parse(name).candles()?)?;
    // "host" and "host:0" are one device.
    let device = opened.entry(device.name().to_owned()).or_insert(device).clone();
    opened.insert(name.to_owned(), device.clone());
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
