//! Devices: where storage lies and operations run.

use std::collections::BTreeMap;
use std::fmt;

use hip_sys::PlatformKind;

use crate::error::{Error, ErrorKind, Result};
use crate::hip::{self, HipDevice};

/// Where a tensor lies.
///
/// Cloning a device is cheap and names the same device. `Display` writes it as messages do: "cpu", "host:1 (host-w64)",
/// "amd:0 (gfx1100)".
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Device {
    /// The cores and memory of this machine.
    #[default]
    Cpu,
    /// A device of a HIP platform.
    Hip(HipDevice),
}

/// At the end of the name of a device that leaves libraries alone.
const KERNELS: &str = ":kernels";

impl Device {
    /// The device of a name: `cpu`, or a platform and an ordinal such as `host:0` or `amd:1`. A platform alone is its first
    /// device. Each call gives a HIP device with a stream of its own: keep it, and clone it. With `:kernels` behind the ordinal, as in
    /// `host:0:kernels`, the device leaves the platform's libraries alone: see [`HipDevice::without_libraries`].
    ///
    /// ```
    /// use tensor_core::Device;
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// assert!(Device::parse("cpu")?.is_cpu());
    /// # #[cfg(feature = "host")]
    /// assert_eq!(Device::parse("host:1")?.to_string(), "host:1 (host-w64)");
    /// assert!(Device::parse("host:7").is_err());
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::UnknownDevice`] for another name, saying what may be meant by it, [`ErrorKind::Load`] if the platform's library is not there,
    /// [`ErrorKind::Hip`] if the platform has no such device.
    pub fn parse(name: &str) -> Result<Device> {
        if name == "cpu" {
            return Ok(Device::Cpu);
        }
        let unknown = || {
            let known: Vec<&str> = hip::platform_names().collect();
            let platforms = known.iter().map(|name| format!("{name}:N")).collect::<Vec<_>>().join(" ");
            let kind =
                ErrorKind::UnknownDevice { name: name.to_owned(), platforms, meant: meant(name, &known) };
            Error::new("device", kind)
        };
        let (place, kernels) = name.strip_suffix(KERNELS).map_or((name, false), |place| (place, true));
        let (kind, ordinal) = place.split_once(':').unwrap_or((place, "0"));
        let ordinal: usize = ordinal.parse().map_err(|_| unknown())?;
        let platform = hip::platform(kind).ok_or_else(unknown)?;
        let platform = platform.map_err(|error| Error::new("device", ErrorKind::Load(error)))?;
        let open = if kernels { HipDevice::without_libraries } else { HipDevice::new };
        open(&platform, ordinal).map(Device::Hip)
    }

    /// Every device of this machine: the CPU, then those of each platform whose library is there.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`] if a platform is there and a device of it does not open.
    pub fn all() -> Result<Vec<Device>> {
        let mut devices = vec![Device::Cpu];
        for platform in hip::platform_names().filter_map(hip::platform).flatten() {
            let count = hip_safe::Device::count(&platform);
            let count = count.map_err(|error| Error::new("device", ErrorKind::Hip(error)))?;
            for ordinal in 0..count {
                devices.push(Device::Hip(HipDevice::new(&platform, ordinal)?));
            }
        }
        Ok(devices)
    }

    /// Whether the device's kernels are there to be loaded; the CPU needs none.
    ///
    /// # Errors
    /// [`ErrorKind::Code`] says where they were looked for and how to make them.
    pub fn check_kernels(&self) -> Result<()> {
        self.as_hip().map_or(Ok(()), HipDevice::check_kernels)
    }

    /// Compiles every kernel of these dtypes that no folder and no cache has, several units at once, so that operations do not wait
    /// for a compiler later. The CPU needs none. `progress` is called after each unit, by any thread, with how many are done and how many
    /// there are.
    ///
    /// ```
    /// # fn main() -> tensor_core::Result<()> {
    /// use tensor_core::{DType, Device};
    /// Device::Cpu.compile_kernels(&[DType::F32], &|done, all| eprintln!("{done} of {all}"))?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Code`] if there is no compiler, or a unit does not compile.
    pub fn compile_kernels(
        &self,
        dtypes: &[crate::DType],
        progress: &(dyn Fn(usize, usize) + Sync),
    ) -> Result<()> {
        self.as_hip().map_or(Ok(()), |device| device.compile_kernels(dtypes, progress))
    }

    /// Whether this is the CPU.
    pub fn is_cpu(&self) -> bool {
        matches!(self, Device::Cpu)
    }

    /// The HIP device, if it is one: its stream, properties and memory.
    pub fn as_hip(&self) -> Option<&HipDevice> {
        match self {
            Device::Cpu => None,
            Device::Hip(device) => Some(device),
        }
    }

    /// The name that [`Device::parse`] takes: "cpu", "host:0", "host:0:kernels".
    pub fn name(&self) -> String {
        match self {
            Device::Cpu => "cpu".to_owned(),
            Device::Hip(device) => {
                let platform = self.platform().map_or("", PlatformKind::name);
                let kernels = if device.uses_libraries() { "" } else { KERNELS };
                format!("{platform}:{}{kernels}", device.device().ordinal())
            }
        }
    }

    /// Whose implementation of HIP the device belongs to; `None` for the CPU.
    pub fn platform(&self) -> Option<PlatformKind> {
        self.as_hip().map(|device| device.device().platform().kind)
    }

    /// What the device and its platform say of themselves, such as "name" and "hip version": the model, the versions of drivers, runtimes
    /// and of the compiler that built its kernels. What cannot be found out is left out; the keys may grow in number.
    ///
    /// ```
    /// # use tensor_core::Device;
    /// assert_eq!(Device::Cpu.facts()["platform"], "cpu");
    /// ```
    pub fn facts(&self) -> BTreeMap<String, String> {
        let cpu = || {
            let facts = [("platform", "cpu"), ("arch", std::env::consts::ARCH), ("os", std::env::consts::OS)];
            facts.map(|(key, value)| (key.to_string(), value.to_string())).into()
        };
        self.as_hip().map_or_else(cpu, HipDevice::facts)
    }

    /// Whether both name the same device, so that their tensors can meet in one operation.
    pub fn same_device(&self, other: &Device) -> bool {
        match (self, other) {
            (Device::Cpu, Device::Cpu) => true,
            (Device::Hip(a), Device::Hip(b)) => a == b,
            _ => false,
        }
    }

    /// Waits until all work submitted to the device is done. The CPU has none under way.
    ///
    /// # Errors
    /// An error of the device that an earlier operation caused.
    #[doc(alias = "hipStreamSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        match self {
            Device::Cpu => Ok(()),
            Device::Hip(device) => device.synchronize(),
        }
    }
}

/// What may be meant by a name that is no device's, in a program with the platforms `known`: its words for what others call otherwise, and
/// the feature that brings a platform.
fn meant(name: &str, known: &[&str]) -> Option<String> {
    let lower = name.to_lowercase();
    let (kind, rest) = lower.split_at(lower.find(':').unwrap_or(lower.len()));
    let kind = match kind {
        "cuda" => PlatformKind::Nvidia.name(),
        "rocm" | "hip" => PlatformKind::Amd.name(),
        kind => kind,
    };
    if kind == "cpu" {
        return Some("write cpu".to_owned());
    }
    let brought = [PlatformKind::Nvidia, PlatformKind::Host].map(PlatformKind::name).contains(&kind);
    let place = rest.strip_suffix(KERNELS).unwrap_or(rest);
    let has_ordinal = place.is_empty() || place[1..].parse::<usize>().is_ok();
    match (known.contains(&kind), brought) {
        (true, _) if !has_ordinal => Some(format!("a number follows {kind}, as in {kind}:0")),
        (true, _) => Some(format!("write {kind}{rest}")),
        (false, true) => {
            Some(format!("{kind}{rest} takes a program that has tensor-core's feature {kind:?}"))
        }
        (false, false) => None,
    }
}

impl fmt::Display for Device {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Device::Cpu => f.pad("cpu"),
            Device::Hip(device) => f.pad(&device.to_string()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::meant;

    #[test]
    fn what_others_call_devices_is_understood() {
        let all = ["amd", "nvidia", "host"];
        for (name, says) in [
            ("cuda:0", "write nvidia:0"),
            ("cuda", "write nvidia"),
            ("CUDA:3", "write nvidia:3"),
            ("rocm:0", "write amd:0"),
            ("hip:1", "write amd:1"),
            ("AMD:0", "write amd:0"),
            ("Host:0:kernels", "write host:0:kernels"),
            ("cuda:1:kernels", "write nvidia:1:kernels"),
            ("CPU", "write cpu"),
            ("cpu:0", "write cpu"),
            ("host:first", "a number follows host, as in host:0"),
            ("cuda:", "a number follows nvidia, as in nvidia:0"),
        ] {
            assert_eq!(meant(name, &all).as_deref(), Some(says), "{name}");
        }
        for name in ["", ":", "metal:0", "gpu", "cuda0", "é:0"] {
            assert_eq!(meant(name, &all), None, "{name}");
        }
    }

    #[test]
    fn a_platform_that_the_program_does_not_have_takes_a_feature() {
        let says = |name| meant(name, &["amd"]).unwrap();
        assert_eq!(says("host:0"), "host:0 takes a program that has tensor-core's feature \"host\"");
        assert_eq!(says("cuda:0"), "nvidia:0 takes a program that has tensor-core's feature \"nvidia\"");
        assert_eq!(says("rocm:0"), "write amd:0");
    }
}
