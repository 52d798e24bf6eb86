//! What GPUs measure and report: temperatures, power, clocks, use, memory, processes, errors and links.
//!
//! AMD's GPUs are read by AMD SMI (`libamd_smi.so.26` of ROCm 7, `.27` of ROCm 10), NVIDIA's by NVML. Both are found at run time. No GPU is used,
//! so neither HIP nor CUDA is needed.
//!
//! ```
//! use amd_smi_safe::{AmdSmi, Gpu, Sensor};
//!
//! fn main() -> amd_smi_safe::Result<()> {
//!     let smi = match AmdSmi::open() {
//!         Ok(smi) => smi,
//!         Err(missing) => {
//!             println!("{missing}");
//!             return Ok(());
//!         }
//!     };
//!     for socket in smi.sockets()? {
//!         println!("socket {}", socket.name()?);
//!         for gpu in socket.processors()? {
//!             println!("  {} at {}", gpu.name()?, gpu.bus_id()?);
//!             match gpu.temperature_celsius(Sensor::Hotspot) {
//!                 Ok(celsius) => println!("    {celsius} °C"),
//!                 Err(why) if why.is_absence() => println!("    no such sensor"),
//!                 Err(why) => return Err(why),
//!             }
//!             let memory = gpu.memory()?;
//!             println!("    {} of {} bytes", memory.used_bytes, memory.total_bytes);
//!         }
//!     }
//!     Ok(())
//! }
//! ```
//!
//! Each quantity has its unit in its name: `socket_watts`, `total_bytes`, `temperature_celsius`. [`Gpu`] has what GPUs of both vendors have;
//! [`Processor`] has more for AMD's. [`find`] and [`Overview`] are for lists of all GPUs. Enumerations of the libraries are numbers with names,
//! because later versions add some.
//!
//! The functions that change a GPU are in `hip_sys::AmdsmiTable`, and `COVERAGE.md` says what is wrapped. No part of this has run on a GPU.

mod bus_id;
mod convert;
mod ecc;
mod error;
mod event;
mod gpu;
mod link;
mod list;
mod memory;
#[cfg(feature = "nvidia")]
pub mod nvidia;
mod overview;
mod process;
mod processor;
mod raw;
mod sensors;
mod smi;

pub use bus_id::BusId;
pub use ecc::{Block, EccBlocks, EccErrors};
pub use error::{Error, Result};
pub use event::{Event, EventKind, Events};
pub use gpu::{Found, Gpu, find};
pub use link::{Link, LinkKind, LinkStatus, Pcie, Route, SlotKind, Xgmi, XgmiErrors};
pub use memory::{BadPage, Memory, MemoryKind, PageStatus, Vram, VramType};
pub use overview::Overview;
pub use process::Process;
pub use processor::{Asic, Board, Driver, Numbers, Processor, ProcessorKind, Socket, Vbios};
pub use sensors::{Clock, ClockKind, Energy, Power, PowerCap, Sensor, Temperature, Utilization};
pub use smi::AmdSmi;
