//! Opening devices by name.

use tensor_core::Device;

use crate::Error;
use crate::report::DeviceReport;

/// A device and its name on the command line.
#[derive(Debug, Clone)]
pub struct NamedDevice {
    /// "cpu", "host:0", "amd:1", …
    pub name: String,
    /// The device itself.
    pub device: Device,
}

impl NamedDevice {
    fn new(device: Device) -> NamedDevice {
        NamedDevice { name: device.name(), device }
    }

    pub(crate) fn report(&self, seconds: f64) -> DeviceReport {
        let (description, facts) = (self.device.to_string(), self.device.facts());
        DeviceReport { name: self.name.clone(), description, seconds, facts }
    }
}

/// The CPU device, which exists on every machine.
pub fn cpu() -> NamedDevice {
    NamedDevice::new(Device::Cpu)
}

/// The devices of these names, without duplicates. Without names, all devices of this machine whose kernels are
/// available; the others are skipped with a message.
///
/// # Errors
/// [`Error::Device`] for a name that is not a device here.
pub fn open(names: &[String]) -> Result<Vec<NamedDevice>, Error> {
    if names.is_empty() {
        let mut all: Vec<_> = Device::all()
            .map_err(|error| unusable("all", &error))?
            .into_iter()
            .map(NamedDevice::new)
            .collect();
        all.retain(|NamedDevice { name, device }| match device.check_kernels() {
            Ok(()) => true,
            Err(error) => {
                eprintln!("parity: {name} is left out: {error}");
                false
            }
        });
        return Ok(all);
    }
    let mut devices: Vec<NamedDevice> = Vec::new();
    for name in names {
        let device = NamedDevice::new(Device::parse(name).map_err(|error| unusable(name, &error))?);
        if devices.iter().all(|other| other.name != device.name) {
            devices.push(device);
        }
    }
    Ok(devices)
}

fn unusable(name: &str, error: &tensor_core::Error) -> Error {
    let available = match Device::all() {
        Ok(devices) => devices.iter().map(Device::name).collect::<Vec<_>>().join(", "),
        Err(_) => "cpu".to_string(),
    };
    Error::Device { name: name.to_string(), reason: error.to_string(), available }
}
