//! What GPUs of every vendor have.

use crate::memory::MemoryKind;
use crate::processor::ask;
use crate::{
    AmdSmi, BusId, Clock, ClockKind, Driver, EccErrors, Memory, Pcie, Power, Process, Processor, Result,
    Sensor, Temperature, Utilization,
};
use hip_sys::text_in;

/// A GPU of AMD's or NVIDIA's.
///
/// Each method may answer [`Error::NotSupported`](crate::Error::NotSupported) for what a GPU or its driver does not have;
/// [`Error::is_absence`](crate::Error::is_absence) tells it from a failure. Values that a GPU leaves out of a structure are `None`.
///
/// # Errors
/// Those of AMD SMI or of NVML.
pub trait Gpu {
    /// What it is sold as.
    fn name(&self) -> Result<String>;

    /// Its serial number.
    fn serial(&self) -> Result<Option<String>>;

    /// An identifier that no other GPU has.
    #[doc(alias = "amdsmi_get_gpu_device_uuid")]
    fn uuid(&self) -> Result<String>;

    /// Its address on the PCI bus.
    #[doc(alias = "amdsmi_get_gpu_device_bdf")]
    fn bus_id(&self) -> Result<BusId>;

    /// Its ordinal in HIP, if a program sees all GPUs. NVIDIA's are `None`: NVML counts them in another order.
    fn hip_ordinal(&self) -> Result<Option<u32>>;

    /// Its kernel driver.
    #[doc(alias = "amdsmi_get_gpu_driver_info")]
    fn driver(&self) -> Result<Driver>;

    /// The temperature of a sensor, in whole degrees Celsius.
    fn temperature_celsius(&self, sensor: Sensor) -> Result<i64>;

    /// Its power and voltages.
    #[doc(alias = "amdsmi_get_power_info")]
    fn power(&self) -> Result<Power>;

    /// The limit of its power, in microwatts.
    fn power_cap_microwatts(&self) -> Result<u64>;

    /// One of its clocks.
    #[doc(alias = "amdsmi_get_clock_info")]
    fn clock(&self, kind: ClockKind) -> Result<Clock>;

    /// How busy it is.
    #[doc(alias = "amdsmi_get_gpu_activity")]
    fn utilization(&self) -> Result<Utilization>;

    /// Its own memory.
    fn memory(&self) -> Result<Memory>;

    /// The processes that use it. AMD's library needs a second after the first call and between two, to count right.
    #[doc(alias = "amdsmi_get_gpu_process_list")]
    fn processes(&self) -> Result<Vec<Process>>;

    /// The errors of all its blocks.
    #[doc(alias = "amdsmi_get_gpu_total_ecc_count")]
    fn ecc_errors(&self) -> Result<EccErrors>;

    /// Its PCIe link.
    #[doc(alias = "amdsmi_get_pcie_info")]
    fn pcie(&self) -> Result<Pcie>;
}

impl Gpu for Processor {
    fn name(&self) -> Result<String> {
        Ok(self.asic()?.market_name)
    }

    fn serial(&self) -> Result<Option<String>> {
        Ok(self.asic()?.serial)
    }

    fn uuid(&self) -> Result<String> {
        Ok(text_in(&ask!(self, device_uuid)?))
    }

    fn bus_id(&self) -> Result<BusId> {
        self.bus()
    }

    fn hip_ordinal(&self) -> Result<Option<u32>> {
        Ok(self.numbers()?.hip)
    }

    fn driver(&self) -> Result<Driver> {
        let driver = ask!(self, driver_info)?;
        Ok(Driver { name: text_in(&driver.driver_name), version: text_in(&driver.driver_version) })
    }

    fn temperature_celsius(&self, sensor: Sensor) -> Result<i64> {
        self.temperature_of_celsius(sensor, Temperature::Current)
    }

    fn power(&self) -> Result<Power> {
        self.power_now()
    }

    fn power_cap_microwatts(&self) -> Result<u64> {
        Ok(self.power_cap()?.current_microwatts)
    }

    fn clock(&self, kind: ClockKind) -> Result<Clock> {
        self.clock_now(kind)
    }

    fn utilization(&self) -> Result<Utilization> {
        self.utilization_now()
    }

    fn memory(&self) -> Result<Memory> {
        self.memory_of(MemoryKind::Vram)
    }

    fn processes(&self) -> Result<Vec<Process>> {
        self.processes_now()
    }

    fn ecc_errors(&self) -> Result<EccErrors> {
        self.ecc_now()
    }

    fn pcie(&self) -> Result<Pcie> {
        self.pcie_now()
    }
}

/// What one vendor's library has found.
pub struct Found {
    /// `AMD` or `NVIDIA`.
    pub vendor: &'static str,
    /// The library and its version, or why there is none.
    pub library: Result<String>,
    /// Its GPUs.
    pub gpus: Vec<Box<dyn Gpu>>,
}

/// The GPUs of this machine: AMD's, then NVIDIA's if the feature `nvidia` is on.
pub fn find() -> Vec<Found> {
    let amd = AmdSmi::open().and_then(|smi| {
        let name = format!("AMD SMI {} from {}", smi.version(), smi.library().display());
        Ok((name, smi.processors()?.into_iter().map(|gpu| Box::new(gpu) as Box<dyn Gpu>).collect()))
    });
    let found = [
        ("AMD", amd),
        #[cfg(feature = "nvidia")]
        ("NVIDIA", crate::nvidia::find()),
    ];
    let found = found.into_iter().map(|(vendor, found)| match found {
        Ok((library, gpus)) => Found { vendor, library: Ok(library), gpus },
        Err(why) => Found { vendor, library: Err(why), gpus: Vec::new() },
    });
    found.collect()
}
