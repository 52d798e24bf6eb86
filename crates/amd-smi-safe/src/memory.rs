//! Memory: how much, of what kind, and its bad pages.

use crate::convert::{counted, known, not_max, open_enum, told};
use crate::processor::ask;
use crate::{Processor, Result};
use hip_sys::amdsmi::amdsmi_memory_type_t;
use hip_sys::text_in;

/// Which memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// The GPU's own.
    Vram,
    /// The part of it that the CPU can address.
    VisibleVram,
    /// The host's, as far as the GPU may address it.
    Gtt,
}

/// An amount of memory.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct Memory {
    /// All of it, in bytes.
    pub total_bytes: u64,
    /// What is in use, in bytes. The processes' shares need not add up to it.
    pub used_bytes: u64,
}

open_enum! {
    /// A type of memory chips.
    VramType {
        /// Not known to the driver.
        UNKNOWN = 0, "unknown";
        /// High-bandwidth memory.
        HBM = 1, "HBM";
        /// The same, second generation.
        HBM2 = 2, "HBM2";
        /// The same, extended.
        HBM2E = 3, "HBM2E";
        /// The same, third generation.
        HBM3 = 4, "HBM3";
        /// The same, extended.
        HBM3E = 5, "HBM3E";
        /// Double data rate.
        DDR2 = 10, "DDR2";
        /// The same, third generation.
        DDR3 = 11, "DDR3";
        /// The same, fourth generation.
        DDR4 = 12, "DDR4";
        /// The same, fifth generation.
        DDR5 = 13, "DDR5";
        /// For graphics.
        GDDR1 = 17, "GDDR1";
        /// The same, second generation.
        GDDR2 = 18, "GDDR2";
        /// The same, third generation.
        GDDR3 = 19, "GDDR3";
        /// The same, fourth generation.
        GDDR4 = 20, "GDDR4";
        /// The same, fifth generation.
        GDDR5 = 21, "GDDR5";
        /// The same, sixth generation.
        GDDR6 = 22, "GDDR6";
        /// The same, seventh generation.
        GDDR7 = 23, "GDDR7";
        /// Of low power.
        LPDDR4 = 30, "LPDDR4";
        /// The same, fifth generation.
        LPDDR5 = 31, "LPDDR5";
    }
}

/// The chips of a GPU's memory.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct Vram {
    /// Their type.
    pub kind: VramType,
    /// Who made them.
    pub vendor: Option<String>,
    /// Their size, in megabytes as the driver counts them.
    pub size_megabytes: Option<u64>,
    /// The width of the bus to them, in bits.
    pub width_bits: Option<u32>,
    /// The most that they transfer, in gigabytes a second.
    pub max_gigabytes_per_second: Option<u64>,
}

open_enum! {
    /// What became of a bad page.
    PageStatus {
        /// It is out of use.
        RESERVED = 0, "reserved";
        /// It will be when the driver can.
        PENDING = 1, "pending";
        /// It cannot be taken out of use.
        UNRESERVABLE = 2, "cannot be reserved";
    }
}

/// A page of memory that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct BadPage {
    /// Its address in the GPU's memory.
    pub address: u64,
    /// Its size, in bytes.
    pub bytes: u64,
    /// What became of it.
    pub status: PageStatus,
}

impl Processor {
    /// How much memory of a kind there is.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_gpu_memory_total")]
    #[doc(alias = "amdsmi_get_gpu_memory_usage")]
    pub fn memory_of(&self, kind: MemoryKind) -> Result<Memory> {
        let kind = match kind {
            MemoryKind::Vram => amdsmi_memory_type_t::AMDSMI_MEM_TYPE_VRAM,
            MemoryKind::VisibleVram => amdsmi_memory_type_t::AMDSMI_MEM_TYPE_VIS_VRAM,
            MemoryKind::Gtt => amdsmi_memory_type_t::AMDSMI_MEM_TYPE_GTT,
        };
        let (total_bytes, used_bytes) = ask!(self, memory, kind)?;
        Ok(Memory { total_bytes, used_bytes })
    }

    /// The chips of its memory.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_gpu_vram_info")]
    pub fn vram(&self) -> Result<Vram> {
        let vram = ask!(self, vram_info)?;
        Ok(Vram {
            kind: VramType(vram.vram_type.0),
            vendor: told(text_in(&vram.vram_vendor)),
            size_megabytes: counted(vram.vram_size),
            width_bits: not_max(vram.vram_bit_width),
            max_gigabytes_per_second: known(vram.vram_max_bandwidth),
        })
    }

    /// The pages of its memory that failed.
    ///
    /// This asks `amdsmi_get_gpu_memory_reserved_pages`. `amdsmi_get_gpu_bad_page_info` has the same pages, and no limit of what it writes.
    ///
    /// # Errors
    /// [`Error::NotSupported`](crate::Error::NotSupported) where the driver keeps no list, or those of the library.
    #[doc(alias = "amdsmi_get_gpu_memory_reserved_pages")]
    pub fn bad_pages(&self) -> Result<Vec<BadPage>> {
        let pages = ask!(self, reserved_pages)?;
        let page = |page: hip_sys::amdsmi::amdsmi_retired_page_record_t| BadPage {
            address: page.page_address,
            bytes: page.page_size,
            status: PageStatus(page.status.0),
        };
        Ok(pages.into_iter().map(page).collect())
    }
}
