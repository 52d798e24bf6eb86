//! Devices, which hold storage and run operations.

use std::collections::BTreeMap;
use std::fmt;

use hip_sys::PlatformKind;

use crate::error::{Error, ErrorKind, Result};
use crate::hip::{self, HipDevice};

/// A device that holds tensors and runs operations.
///
/// Cloning a device is cheap; the clone is the same device. `Display` writes it as in messages: "cpu", "host:1
/// (host-w64)", "amd:0 (gfx1100)".
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub enum Device {
    /// The cores and memory of this machine.
    #[default]
    Cpu,
    /// A device of a HIP platform.
    Hip(HipDevice),
}

/// The suffix of the name of a device that uses no vendor libraries.
const KERNELS: &str = ":kernels";

impl Device {
    /// Opens the device of this name: `cpu`, or a platform and an ordinal such as `host:0` or `amd:1`. A platform alone
    /// means its first device. With `:kernels` behind the ordinal, as in `host:0:kernels`, the device does not use the
    /// platform's libraries: see [`HipDevice::without_libraries`].
    ///
    /// Each call gives a HIP device with a new stream: keep the device and clone it.
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
    /// [`ErrorKind::UnknownDevice`] for another name, with a suggestion where there is one; [`ErrorKind::Load`] if the
    /// platform's library is missing; [`ErrorKind::Hip`] if the platform has no such device.
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
        let (base, kernels) = name.strip_suffix(KERNELS).map_or((name, false), |base| (base, true));
        let (kind, ordinal) = base.split_once(':').unwrap_or((base, "0"));
        let ordinal: usize = ordinal.parse().map_err(|_| unknown())?;
        let platform = hip::platform(kind).ok_or_else(unknown)?;
        let platform = platform.map_err(|error| Error::new("device", ErrorKind::Load(error)))?;
        let open = if kernels { HipDevice::without_libraries } else { HipDevice::new };
        open(&platform, ordinal).map(Device::Hip)
    }

    /// Every device of this machine: the CPU, then the devices of each platform whose library loads.
    ///
    /// # Errors
    /// [`ErrorKind::Hip`] if a device of a platform does not open.
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

    /// Checks that the device's kernels can be found. The CPU needs none.
    ///
    /// # Errors
    /// [`ErrorKind::Code`] says where they were looked for and how to build them.
    pub fn check_kernels(&self) -> Result<()> {
        self.as_hip().map_or(Ok(()), HipDevice::check_kernels)
    }

    /// Compiles every kernel of these dtypes that is in no folder and no cache, so that operations do not wait for a
    /// compiler later. Several units are compiled at once. The CPU needs none. `progress` is called after each unit,
    /// from any thread, with the number of units done and the number of all.
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

    /// The HIP device, which has the stream, properties and memory; `None` for the CPU.
    pub fn as_hip(&self) -> Option<&HipDevice> {
        match self {
            Device::Cpu => None,
            Device::Hip(device) => Some(device),
        }
    }

    /// The name, as [`Device::parse`] takes it: "cpu", "host:0", "host:0:kernels".
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

    /// The HIP implementation that the device belongs to; `None` for the CPU.
    pub fn platform(&self) -> Option<PlatformKind> {
        self.as_hip().map(|device| device.device().platform().kind)
    }

    /// Facts about the device and its platform, by keys such as "name" and "hip version": the model, and the versions
    /// of drivers, runtimes and of the compiler that built its kernels, and a hash of what these are compiled of. Unknown facts
    /// are left out. Later versions may add keys.
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

    /// Whether both are the same device, so that one operation can use tensors of both.
    pub fn same_device(&self, other: &Device) -> bool {
        match (self, other) {
            (Device::Cpu, Device::Cpu) => true,
            (Device::Hip(a), Device::Hip(b)) => a == b,
            _ => false,
        }
    }

    /// Waits until all work submitted to the device is done. The CPU's operations are synchronous.
    ///
    /// # Errors
    /// An error that an earlier operation caused on the device.
    #[doc(alias = "hipStreamSynchronize")]
    pub fn synchronize(&self) -> Result<()> {
        match self {
            Device::Cpu => Ok(()),
            Device::Hip(device) => device.synchronize(),
        }
    }
}

/// A hint for a name that is no device, in a program with the platforms `known`: this crate's spelling for names of
/// other projects, or the feature that adds a platform.
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
    let base = rest.strip_suffix(KERNELS).unwrap_or(rest);
    let has_ordinal = base.is_empty() || base[1..].parse::<usize>().is_ok();
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
    fn device_names_of_other_projects_get_a_hint() {
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
