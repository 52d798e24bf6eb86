//! A GPU in one line.

use crate::{BusId, Error, Gpu, Memory, Result, Sensor};
use std::fmt;

/// The values of a GPU that fit in a line. What it does not have is `None`.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Overview {
    /// What it is sold as.
    pub name: String,
    /// Its address on the PCI bus.
    pub bus_id: Option<BusId>,
    /// Its ordinal in HIP, if a program sees all GPUs.
    pub hip_ordinal: Option<u32>,
    /// Its kernel driver and the driver's version.
    pub driver: Option<String>,
    /// At its hottest spot, or at the edge where only that is measured.
    pub temperature_celsius: Option<i64>,
    /// What it takes, in watts.
    pub power_watts: Option<u64>,
    /// What it may take, in watts.
    pub power_cap_watts: Option<u64>,
    /// How busy its compute units are.
    pub busy_percent: Option<u32>,
    /// Its own memory.
    pub memory: Option<Memory>,
    /// How many processes use it.
    pub processes: Option<usize>,
    /// What could not be read although the GPU may have it, as sentences.
    pub failures: Vec<String>,
}

impl Overview {
    /// Reads it.
    ///
    /// # Errors
    /// If even the name cannot be read.
    pub fn of(gpu: &dyn Gpu) -> Result<Self> {
        let mut failures = Vec::new();
        let name = gpu.name()?;
        let hottest = gpu.temperature_celsius(Sensor::Hotspot);
        let temperature = match hottest {
            Err(why) if why.is_absence() => gpu.temperature_celsius(Sensor::Edge),
            read => read,
        };
        let cap = gpu.power_cap_microwatts().map(|microwatts| microwatts / 1_000_000);
        Ok(Self {
            name,
            bus_id: keep(gpu.bus_id(), &mut failures),
            hip_ordinal: keep(gpu.hip_ordinal(), &mut failures).flatten(),
            driver: keep(gpu.driver(), &mut failures)
                .map(|driver| format!("{} {}", driver.name, driver.version).trim().to_owned()),
            temperature_celsius: keep(temperature, &mut failures),
            power_watts: keep(gpu.power(), &mut failures).and_then(|power| power.socket_watts),
            power_cap_watts: keep(cap, &mut failures),
            busy_percent: keep(gpu.utilization(), &mut failures).and_then(|busy| busy.gfx_percent),
            memory: keep(gpu.memory(), &mut failures),
            processes: keep(gpu.processes(), &mut failures).map(|list| list.len()),
            failures,
        })
    }
}

/// The value; an error other than that the GPU does not have it is kept as a sentence.
fn keep<T>(read: Result<T>, failures: &mut Vec<String>) -> Option<T> {
    read.map_err(|why: Error| {
        if !why.is_absence() {
            failures.push(why.to_string());
        }
    })
    .ok()
}

impl fmt::Display for Overview {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        if let Some(id) = self.bus_id {
            write!(f, " at {id}")?;
        }
        if let Some(driver) = &self.driver {
            write!(f, ", {driver}")?;
        }
        if let Some(celsius) = self.temperature_celsius {
            write!(f, ", {celsius} °C")?;
        }
        match (self.power_watts, self.power_cap_watts) {
            (Some(watts), Some(cap)) => write!(f, ", {watts} of {cap} W")?,
            (Some(watts), None) => write!(f, ", {watts} W")?,
            (None, _) => {}
        }
        if let Some(busy) = self.busy_percent {
            write!(f, ", {busy} % busy")?;
        }
        if let Some(memory) = self.memory {
            write!(f, ", {} of {} MiB", memory.used_bytes >> 20, memory.total_bytes >> 20)?;
        }
        match self.processes {
            Some(1) => f.write_str(", 1 process"),
            Some(count) => write!(f, ", {count} processes"),
            None => Ok(()),
        }
    }
}
