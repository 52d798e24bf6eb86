//! NVIDIA's GPUs, by NVML. docs/platforms/nvidia.md says what ran on a card.

use crate::{
    BusId, Clock, ClockKind, Driver, EccErrors, Error, Gpu, Memory, Pcie, Power, Process, Result, Sensor,
    Utilization,
};
use nvml_wrapper::enum_wrappers::device::{Clock as NvmlClock, EccCounter, MemoryError, TemperatureSensor};
use nvml_wrapper::enums::device::UsedGpuMemory;
use nvml_wrapper::error::NvmlError;
use nvml_wrapper::{Device, Nvml};
use std::collections::BTreeMap;
use std::sync::Arc;

/// A GPU of NVIDIA's.
#[derive(Clone)]
pub struct NvidiaGpu {
    nvml: Arc<Nvml>,
    index: u32,
}

/// NVIDIA's GPUs in NVML's order, which is that of the PCI bus.
///
/// # Errors
/// [`Error::Nvml`] where there is no driver of NVIDIA's.
pub fn gpus() -> Result<Vec<NvidiaGpu>> {
    Ok(opened()?.1)
}

fn opened() -> Result<(Arc<Nvml>, Vec<NvidiaGpu>)> {
    let nvml = Nvml::init().map_err(|why| failed("nvmlInit_v2", &why))?;
    let count = nvml.device_count().map_err(|why| failed("nvmlDeviceGetCount_v2", &why))?;
    let nvml = Arc::new(nvml);
    let gpus = (0..count).map(|index| NvidiaGpu { nvml: Arc::clone(&nvml), index }).collect();
    Ok((nvml, gpus))
}

pub(crate) fn find() -> Result<(String, Vec<Box<dyn Gpu>>)> {
    let (nvml, gpus) = opened()?;
    let version = nvml.sys_nvml_version().unwrap_or_default();
    let gpus = gpus.into_iter().map(|gpu| Box::new(gpu) as Box<dyn Gpu>).collect();
    Ok((format!("NVML {version}"), gpus))
}

fn failed(function: &'static str, why: &NvmlError) -> Error {
    match why {
        NvmlError::NotSupported | NvmlError::FailedToLoadSymbol(_) => Error::NotSupported { function },
        NvmlError::NoPermission => Error::NoPermission { function },
        why => Error::Nvml { function, why: why.to_string() },
    }
}

/// The value, or nothing where the GPU has none.
fn if_any<T>(read: Result<T>) -> Result<Option<T>> {
    match read {
        Err(why) if why.is_absence() => Ok(None),
        read => read.map(Some),
    }
}

impl NvidiaGpu {
    fn ask<'s, T>(
        &'s self,
        function: &'static str,
        question: impl FnOnce(&Device<'s>) -> Result<T, NvmlError>,
    ) -> Result<T> {
        let device = self
            .nvml
            .device_by_index(self.index)
            .map_err(|why| failed("nvmlDeviceGetHandleByIndex_v2", &why))?;
        question(&device).map_err(|why| failed(function, &why))
    }
}

impl Gpu for NvidiaGpu {
    fn name(&self) -> Result<String> {
        self.ask("nvmlDeviceGetName", Device::name)
    }

    fn serial(&self) -> Result<Option<String>> {
        if_any(self.ask("nvmlDeviceGetSerial", Device::serial))
    }

    fn uuid(&self) -> Result<String> {
        self.ask("nvmlDeviceGetUUID", Device::uuid)
    }

    fn bus_id(&self) -> Result<BusId> {
        let pci = self.ask("nvmlDeviceGetPciInfo_v3", Device::pci_info)?;
        let function = pci.bus_id.rsplit_once('.').and_then(|(_, last)| last.parse().ok());
        Ok(BusId {
            domain: pci.domain.into(),
            bus: pci.bus.try_into().unwrap_or(u8::MAX),
            device: pci.device.try_into().unwrap_or(u8::MAX),
            function: function.unwrap_or(0),
        })
    }

    fn hip_ordinal(&self) -> Result<Option<u32>> {
        Ok(None)
    }

    fn driver(&self) -> Result<Driver> {
        let version =
            self.nvml.sys_driver_version().map_err(|why| failed("nvmlSystemGetDriverVersion", &why))?;
        Ok(Driver { name: "nvidia".into(), version })
    }

    fn temperature_celsius(&self, sensor: Sensor) -> Result<i64> {
        let function = "nvmlDeviceGetTemperature";
        if sensor != Sensor::Edge {
            return Err(Error::NotSupported { function });
        }
        self.ask(function, |device| device.temperature(TemperatureSensor::Gpu)).map(i64::from)
    }

    fn power(&self) -> Result<Power> {
        let milliwatts = self.ask("nvmlDeviceGetPowerUsage", Device::power_usage)?;
        Ok(Power {
            socket_watts: Some((u64::from(milliwatts) + 500) / 1000),
            gfx_millivolts: None,
            soc_millivolts: None,
            memory_millivolts: None,
        })
    }

    fn power_cap_microwatts(&self) -> Result<u64> {
        let milliwatts = self.ask("nvmlDeviceGetEnforcedPowerLimit", Device::enforced_power_limit)?;
        Ok(u64::from(milliwatts) * 1000)
    }

    fn clock(&self, kind: ClockKind) -> Result<Clock> {
        let function = "nvmlDeviceGetClockInfo";
        let clock = || match kind {
            ClockKind::Gfx => Some(NvmlClock::SM),
            ClockKind::Memory => Some(NvmlClock::Memory),
            ClockKind::Video => Some(NvmlClock::Video),
            ClockKind::Soc | ClockKind::Fabric => None,
        };
        let (Some(now), Some(most)) = (clock(), clock()) else {
            return Err(Error::NotSupported { function });
        };
        Ok(Clock {
            current_megahertz: Some(self.ask(function, |device| device.clock_info(now))?),
            min_megahertz: None,
            max_megahertz: if_any(
                self.ask("nvmlDeviceGetMaxClockInfo", |device| device.max_clock_info(most)),
            )?,
        })
    }

    fn utilization(&self) -> Result<Utilization> {
        let busy = self.ask("nvmlDeviceGetUtilizationRates", Device::utilization_rates)?;
        let media = self.ask("nvmlDeviceGetDecoderUtilization", Device::decoder_utilization);
        Ok(Utilization {
            gfx_percent: Some(busy.gpu),
            memory_percent: Some(busy.memory),
            media_percent: if_any(media)?.map(|media| media.utilization),
        })
    }

    fn memory(&self) -> Result<Memory> {
        let memory = self.ask("nvmlDeviceGetMemoryInfo", Device::memory_info)?;
        Ok(Memory { total_bytes: memory.total, used_bytes: memory.used })
    }

    fn processes(&self) -> Result<Vec<Process>> {
        // A process may be in both lists.
        let mut memory = BTreeMap::new();
        for list in [
            self.ask("nvmlDeviceGetComputeRunningProcesses", Device::running_compute_processes),
            self.ask("nvmlDeviceGetGraphicsRunningProcesses", Device::running_graphics_processes),
        ] {
            for process in if_any(list)?.unwrap_or_default() {
                let bytes = match process.used_gpu_memory {
                    UsedGpuMemory::Used(bytes) => Some(bytes),
                    UsedGpuMemory::Unavailable => None,
                };
                // A process may be in both lists, and only one of them may know its memory.
                let known = memory.entry(process.pid).or_insert(None);
                *known = (*known).max(bytes);
            }
        }
        let process = |(pid, bytes): (u32, Option<u64>)| Process {
            pid,
            name: self.nvml.sys_process_name(pid, 256).ok(),
            memory_bytes: bytes,
            vram_bytes: bytes,
            gfx_nanoseconds: None,
            compute_units: None,
            container: None,
        };
        Ok(memory.into_iter().map(process).collect())
    }

    fn ecc_errors(&self) -> Result<EccErrors> {
        let count = |error| {
            self.ask("nvmlDeviceGetTotalEccErrors", |device| {
                device.total_ecc_errors(error, EccCounter::Volatile)
            })
        };
        Ok(EccErrors {
            correctable: count(MemoryError::Corrected)?,
            uncorrectable: count(MemoryError::Uncorrected)?,
            deferred: None,
        })
    }

    fn pcie(&self) -> Result<Pcie> {
        let rate = self.ask("nvmlDeviceGetPcieSpeed", Device::pcie_link_speed);
        let most = self.ask("nvmlDeviceGetPcieLinkMaxSpeed", Device::max_pcie_link_speed);
        let generation = self.ask("nvmlDeviceGetCurrPcieLinkGeneration", Device::current_pcie_link_gen);
        let replays = self.ask("nvmlDeviceGetPcieReplayCounter", Device::pcie_replay_counter);
        Ok(Pcie {
            lanes: Some(self.ask("nvmlDeviceGetCurrPcieLinkWidth", Device::current_pcie_link_width)?),
            max_lanes: if_any(self.ask("nvmlDeviceGetMaxPcieLinkWidth", Device::max_pcie_link_width))?,
            megatransfers_per_second: if_any(rate)?,
            max_megatransfers_per_second: if_any(most)?.and_then(|rate| rate.as_integer()),
            generation: if_any(generation)?,
            megabits_per_second: None,
            replays: if_any(replays)?.map(u64::from),
            slot: None,
        })
    }
}
