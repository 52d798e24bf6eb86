//! Temperatures, power, clocks and use.

use crate::convert::{known, known32};
use crate::processor::ask;
use crate::{Error, Processor, Result};
use hip_sys::amdsmi::{amdsmi_clk_type_t, amdsmi_temperature_metric_t, amdsmi_temperature_type_t};

/// Where a temperature is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Sensor {
    /// The edge of the die; NVIDIA's only sensor.
    Edge,
    /// The hottest spot of the die.
    Hotspot,
    /// The memory.
    Memory,
    /// A stack of high-bandwidth memory, 0 to 3.
    Hbm(u8),
}

/// Which temperature of a sensor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Temperature {
    /// What it is now.
    Current,
    /// Where clocks go down.
    Critical,
    /// Where the GPU switches itself off.
    Emergency,
    /// The highest that the driver remembers.
    Highest,
}

/// Power and voltages, as measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Power {
    /// What the package takes, in watts.
    pub socket_watts: Option<u64>,
    /// The voltage of the compute units, in millivolts.
    pub gfx_millivolts: Option<u64>,
    /// The voltage of the rest of the chip, in millivolts.
    pub soc_millivolts: Option<u64>,
    /// The voltage of the memory, in millivolts.
    pub memory_millivolts: Option<u64>,
}

/// The limits of power.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct PowerCap {
    /// The limit now, in microwatts.
    pub current_microwatts: u64,
    /// The limit that it starts with, in microwatts.
    pub default_microwatts: u64,
    /// The least that may be set, in microwatts.
    pub min_microwatts: u64,
    /// The most that may be set, in microwatts.
    pub max_microwatts: u64,
}

/// A counter of energy.
#[derive(Debug, Clone, Copy, PartialEq)]
#[non_exhaustive]
pub struct Energy {
    /// What the GPU has taken since the driver began to count, in microjoules.
    pub microjoules: f64,
    /// When, in nanoseconds of the driver's own clock: for differences.
    pub nanoseconds: u64,
}

/// Which clock.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ClockKind {
    /// Of the compute units.
    Gfx,
    /// Of the memory.
    Memory,
    /// Of the rest of the chip.
    Soc,
    /// Of the data fabric.
    Fabric,
    /// Of the first video unit.
    Video,
}

/// A clock, in megahertz.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Clock {
    /// What it is now.
    pub current_megahertz: Option<u32>,
    /// The lowest.
    pub min_megahertz: Option<u32>,
    /// The highest.
    pub max_megahertz: Option<u32>,
}

/// How much of the time units were busy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Utilization {
    /// The compute units, in percent.
    pub gfx_percent: Option<u32>,
    /// The memory controller, in percent.
    pub memory_percent: Option<u32>,
    /// The video units, in percent.
    pub media_percent: Option<u32>,
}

impl Processor {
    /// A temperature, in whole degrees Celsius.
    ///
    /// # Errors
    /// [`Error::NotSupported`](crate::Error::NotSupported) where there is no such sensor, or those of the library.
    #[doc(alias = "amdsmi_get_temp_metric")]
    pub fn temperature_of_celsius(&self, sensor: Sensor, which: Temperature) -> Result<i64> {
        type Type = amdsmi_temperature_type_t;
        type Metric = amdsmi_temperature_metric_t;
        let sensor = match sensor {
            Sensor::Edge => Type::AMDSMI_TEMPERATURE_TYPE_EDGE,
            Sensor::Hotspot => Type::AMDSMI_TEMPERATURE_TYPE_HOTSPOT,
            Sensor::Memory => Type::AMDSMI_TEMPERATURE_TYPE_VRAM,
            Sensor::Hbm(0) => Type::AMDSMI_TEMPERATURE_TYPE_HBM_0,
            Sensor::Hbm(1) => Type::AMDSMI_TEMPERATURE_TYPE_HBM_1,
            Sensor::Hbm(2) => Type::AMDSMI_TEMPERATURE_TYPE_HBM_2,
            Sensor::Hbm(3) => Type::AMDSMI_TEMPERATURE_TYPE_HBM_3,
            // The function has no names for more stacks.
            Sensor::Hbm(_) => return Err(Error::NotSupported { function: "amdsmi_get_temp_metric" }),
        };
        let which = match which {
            Temperature::Current => Metric::AMDSMI_TEMP_CURRENT,
            Temperature::Critical => Metric::AMDSMI_TEMP_CRITICAL,
            Temperature::Emergency => Metric::AMDSMI_TEMP_EMERGENCY,
            Temperature::Highest => Metric::AMDSMI_TEMP_HIGHEST,
        };
        Ok(ask!(self, temperature, sensor, which)?)
    }

    /// The limits of its power.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_power_cap_info")]
    pub fn power_cap(&self) -> Result<PowerCap> {
        let cap = ask!(self, power_cap)?;
        Ok(PowerCap {
            current_microwatts: cap.power_cap,
            default_microwatts: cap.default_power_cap,
            min_microwatts: cap.min_power_cap,
            max_microwatts: cap.max_power_cap,
        })
    }

    /// The energy that it has taken. The mean power is the difference of two, divided by that of their times.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_energy_count")]
    pub fn energy(&self) -> Result<Energy> {
        let (counter, resolution, nanoseconds) = ask!(self, energy)?;
        Ok(Energy { microjoules: counter as f64 * f64::from(resolution), nanoseconds })
    }

    /// How busy its video units are, in percent, as the driver says for GPUs whose [`Utilization`] has no such number.
    ///
    /// # Errors
    /// [`Error::NoFunction`](crate::Error::NoFunction) for libraries before ROCm 7.14, or those of the library.
    #[doc(alias = "amdsmi_get_vcn_busy_percent")]
    pub fn video_percent(&self) -> Result<u32> {
        ask!(self, video_busy)
    }

    pub(crate) fn power_now(&self) -> Result<Power> {
        let power = ask!(self, power_info)?;
        // Which one a GPU has depends on its generation.
        let socket =
            [power.socket_power, power.current_socket_power.into(), power.average_socket_power.into()];
        Ok(Power {
            socket_watts: socket.into_iter().find_map(known),
            gfx_millivolts: known(power.gfx_voltage),
            soc_millivolts: known(power.soc_voltage),
            memory_millivolts: known(power.mem_voltage),
        })
    }

    pub(crate) fn clock_now(&self, kind: ClockKind) -> Result<Clock> {
        type Type = amdsmi_clk_type_t;
        let kind = match kind {
            ClockKind::Gfx => Type::AMDSMI_CLK_TYPE_GFX,
            ClockKind::Memory => Type::AMDSMI_CLK_TYPE_MEM,
            ClockKind::Soc => Type::AMDSMI_CLK_TYPE_SOC,
            ClockKind::Fabric => Type::AMDSMI_CLK_TYPE_DF,
            ClockKind::Video => Type::AMDSMI_CLK_TYPE_VCLK0,
        };
        let clock = ask!(self, clock, kind)?;
        Ok(Clock {
            current_megahertz: known32(clock.clk),
            min_megahertz: known32(clock.min_clk),
            max_megahertz: known32(clock.max_clk),
        })
    }

    pub(crate) fn utilization_now(&self) -> Result<Utilization> {
        let activity = ask!(self, activity)?;
        Ok(Utilization {
            gfx_percent: known32(activity.gfx_activity),
            memory_percent: known32(activity.umc_activity),
            media_percent: known32(activity.mm_activity),
        })
    }
}
