//! The header of a record: device, date, seed and version.

use std::collections::BTreeMap;

use super::date;
use crate::devices::NamedDevice;

/// Where and when a record was made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Header {
    /// The device's name on the command line: "nvidia:0".
    pub device: String,
    /// A description of the device.
    pub description: String,
    /// Facts about the device and its platform: the model, versions of drivers, runtimes and compilers.
    pub facts: BTreeMap<String, String>,
    /// Seed of the inputs.
    pub seed: u64,
    /// The day, in UTC: "2026-01-31".
    pub date: String,
    /// Version of this crate.
    pub version: String,
}

impl Header {
    /// The header of a record made now on this device.
    pub fn of(device: &NamedDevice, seed: u64) -> Header {
        Header {
            device: device.name.clone(),
            description: device.device.to_string(),
            facts: device.device.facts(),
            seed,
            date: date::today(),
            version: env!("CARGO_PKG_VERSION").to_string(),
        }
    }

    /// The number of lines in the file: the schema, six fields, the facts, and an empty line.
    pub(super) fn lines(&self) -> usize {
        8 + self.facts.len()
    }
}
