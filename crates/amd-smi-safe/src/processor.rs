//! Sockets, and what the GPUs in them are.

use crate::convert::{not_max, open_enum, told};
use crate::raw;
use crate::smi::{Handle, Session};
use crate::{BusId, Result};
use hip_sys::text_in;

/// A socket: what one or more processors are plugged in with. An APU and each card has its own.
#[derive(Clone, Copy)]
pub struct Socket {
    pub(crate) session: &'static Session,
    pub(crate) handle: Handle,
}

impl Socket {
    /// The library's name of it, which is a bus id without the function: `0000:c1:00`.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_socket_info")]
    pub fn name(&self) -> Result<String> {
        // SAFETY: S1, S23: nobody else is in the library, and the handle is its own.
        Ok(text_in(&unsafe { raw::socket_info(&self.session.enter(), self.handle.0) }?))
    }

    /// Its GPUs. A GPU that is split into partitions has several.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_processor_handles")]
    pub fn processors(&self) -> Result<Vec<Processor>> {
        // SAFETY: S1, S23: nobody else is in the library, and the handle is its own.
        let handles = unsafe { raw::processor_handles(&self.session.enter(), self.handle.0) }?;
        let of = |handle| Processor { session: self.session, handle: Handle(handle) };
        Ok(handles.into_iter().map(of).collect())
    }
}

open_enum! {
    /// What a processor is.
    ProcessorKind {
        /// A GPU of AMD's.
        GPU = 1, "GPU";
        /// A CPU of AMD's.
        CPU = 2, "CPU";
        /// A GPU of somebody else's.
        OTHER_GPU = 3, "GPU of another vendor";
        /// A CPU of somebody else's.
        OTHER_CPU = 4, "CPU of another vendor";
        /// A core of a CPU.
        CPU_CORE = 5, "CPU core";
        /// A GPU and a CPU on one die.
        APU = 6, "APU";
    }
}

/// The chip.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Asic {
    /// What it is sold as.
    pub market_name: String,
    /// Who made it.
    pub vendor_name: String,
    /// The vendor's number on the bus: 0x1002 is AMD.
    pub vendor_id: u32,
    /// The chip's number on the bus.
    pub device_id: u64,
    /// The vendor of the card.
    pub subvendor_id: u32,
    /// Its revision on the bus.
    pub revision: Option<u32>,
    /// Its serial number, in hexadecimal digits.
    pub serial: Option<String>,
    /// Its number among the accelerators of a board.
    pub oam_id: Option<u32>,
    /// Its compute units.
    pub compute_units: Option<u32>,
}

/// The board that a chip is on.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Board {
    /// The number of the model.
    pub model: Option<String>,
    /// Its serial number.
    pub serial: Option<String>,
    /// The number for replacement.
    pub fru: Option<String>,
    /// Its name.
    pub product: Option<String>,
    /// Who made it.
    pub manufacturer: Option<String>,
}

/// The kernel driver of a GPU.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Driver {
    /// `amdgpu` or `nvidia`.
    pub name: String,
    /// Its version, or that of the kernel that it is a part of.
    pub version: String,
}

/// The firmware that starts a card.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Vbios {
    /// Its name.
    pub name: String,
    /// When it was built.
    pub build_date: String,
    /// Its part number.
    pub part_number: String,
    /// Its version.
    pub version: String,
}

/// The numbers that others call a GPU by.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Numbers {
    /// `renderD128` of /dev/dri is 128.
    pub render_node: Option<u32>,
    /// `card0` of /dev/dri is 0.
    pub card: Option<u32>,
    /// Its number in the HSA runtime.
    pub hsa: Option<u32>,
    /// Its ordinal in HIP, if a program sees all GPUs.
    pub hip: Option<u32>,
    /// Its identifier in HIP.
    pub hip_uuid: Option<String>,
}

/// A GPU of AMD's, or a partition of one. Copies are the same GPU.
///
/// Sensors, memory, processes, errors and links are methods of [`Gpu`](crate::Gpu), which NVIDIA's have too; what only AMD has is here.
#[derive(Clone, Copy)]
pub struct Processor {
    pub(crate) session: &'static Session,
    pub(crate) handle: Handle,
}

/// Calls a function of `raw` with the library's table and this processor.
macro_rules! ask {
    ($self:ident, $function:ident $(, $argument:expr)*) => {
        // SAFETY: S1, S23: nobody else is in the library, and the handle is its own.
        unsafe { $crate::raw::$function(&$self.session.enter(), $self.handle.0 $(, $argument)*) }
    };
}
pub(crate) use ask;

impl Processor {
    /// What it is.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_processor_type")]
    pub fn kind(&self) -> Result<ProcessorKind> {
        Ok(ProcessorKind(ask!(self, processor_type)?.0))
    }

    /// Its chip.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_gpu_asic_info")]
    pub fn asic(&self) -> Result<Asic> {
        let told_of = ask!(self, asic_info)?;
        Ok(Asic {
            market_name: text_in(&told_of.market_name),
            vendor_name: text_in(&told_of.vendor_name),
            vendor_id: told_of.vendor_id,
            device_id: told_of.device_id,
            subvendor_id: told_of.subvendor_id,
            revision: not_max(told_of.rev_id),
            // Without one it is the text of the largest number.
            serial: told(text_in(&told_of.asic_serial)).filter(|serial| {
                !serial.trim_start_matches("0x").bytes().all(|digit| matches!(digit, b'f' | b'F'))
            }),
            oam_id: not_max(told_of.oam_id),
            compute_units: not_max(told_of.num_of_compute_units),
        })
    }

    /// The board that it is on.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_gpu_board_info")]
    pub fn board(&self) -> Result<Board> {
        let board = ask!(self, board_info)?;
        Ok(Board {
            model: told(text_in(&board.model_number)),
            serial: told(text_in(&board.product_serial)),
            fru: told(text_in(&board.fru_id)),
            product: told(text_in(&board.product_name)),
            manufacturer: told(text_in(&board.manufacturer_name)),
        })
    }

    /// The firmware that starts it.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_gpu_vbios_info")]
    pub fn vbios(&self) -> Result<Vbios> {
        let vbios = ask!(self, vbios_info)?;
        Ok(Vbios {
            name: text_in(&vbios.name),
            build_date: text_in(&vbios.build_date),
            part_number: text_in(&vbios.part_number),
            version: text_in(&vbios.version),
        })
    }

    /// What others call it.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_gpu_enumeration_info")]
    pub fn numbers(&self) -> Result<Numbers> {
        let numbers = ask!(self, enumeration_info)?;
        Ok(Numbers {
            render_node: not_max(numbers.drm_render),
            card: not_max(numbers.drm_card),
            hsa: not_max(numbers.hsa_id),
            hip: not_max(numbers.hip_id),
            hip_uuid: told(text_in(&numbers.hip_uuid)),
        })
    }

    /// The NUMA node of CPUs that it is nearest to.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_topo_get_numa_node_number")]
    pub fn numa_node(&self) -> Result<u32> {
        Ok(ask!(self, numa_node)?)
    }

    pub(crate) fn bus(&self) -> Result<BusId> {
        let told_of = ask!(self, device_bdf)?;
        // SAFETY: S15: the number covers the whole union, which the library has filled, and was zeroed before.
        Ok(BusId::from_bits(unsafe { told_of.as_uint }))
    }
}

impl PartialEq for Processor {
    fn eq(&self, other: &Self) -> bool {
        std::ptr::eq(self.session, other.session) && self.handle == other.handle
    }
}

impl Eq for Processor {}

impl std::fmt::Debug for Processor {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Processor").field("handle", &self.handle.0).finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Socket {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Socket").field("handle", &self.handle.0).finish_non_exhaustive()
    }
}
