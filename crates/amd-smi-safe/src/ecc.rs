//! Errors of memory and of other blocks that their check bits found.

use crate::processor::ask;
use crate::{Processor, Result};
use hip_sys::amdsmi::{amdsmi_error_count_t, amdsmi_gpu_block_t};

/// Errors since the driver was loaded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct EccErrors {
    /// Those that were corrected.
    pub correctable: u64,
    /// Those that could not be.
    pub uncorrectable: u64,
    /// Those whose data nobody has used yet. NVIDIA's count none.
    pub deferred: Option<u64>,
}

impl EccErrors {
    fn of(count: amdsmi_error_count_t) -> Self {
        Self {
            correctable: count.correctable_count,
            uncorrectable: count.uncorrectable_count,
            deferred: Some(count.deferred_count),
        }
    }
}

macro_rules! blocks {
    ($($(#[$doc:meta])* $name:ident = $enumerator:ident;)*) => {
        /// A part of a GPU that counts its errors. These are the blocks that every version of the library knows.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub enum Block {
            $($(#[$doc])* $name,)*
        }

        impl Block {
            /// All of them.
            pub const ALL: &'static [Self] = &[$(Self::$name),*];

            pub(crate) fn raw(self) -> amdsmi_gpu_block_t {
                match self {
                    $(Self::$name => amdsmi_gpu_block_t::$enumerator,)*
                }
            }
        }
    };
}

blocks! {
    /// The memory controller.
    Umc = AMDSMI_GPU_BLOCK_UMC;
    /// The copy engines.
    Sdma = AMDSMI_GPU_BLOCK_SDMA;
    /// The compute units.
    Gfx = AMDSMI_GPU_BLOCK_GFX;
    /// The hub of video and other clients of memory.
    Mmhub = AMDSMI_GPU_BLOCK_MMHUB;
    /// The hub of address translation.
    Athub = AMDSMI_GPU_BLOCK_ATHUB;
    /// The interface to PCIe.
    PcieBif = AMDSMI_GPU_BLOCK_PCIE_BIF;
    /// The data path of the host.
    Hdp = AMDSMI_GPU_BLOCK_HDP;
    /// The links to other GPUs.
    XgmiWafl = AMDSMI_GPU_BLOCK_XGMI_WAFL;
    /// The data fabric.
    Df = AMDSMI_GPU_BLOCK_DF;
    /// The management network.
    Smn = AMDSMI_GPU_BLOCK_SMN;
    /// SEM.
    Sem = AMDSMI_GPU_BLOCK_SEM;
    /// The security processor.
    Mp0 = AMDSMI_GPU_BLOCK_MP0;
    /// The management processor.
    Mp1 = AMDSMI_GPU_BLOCK_MP1;
    /// The fuses.
    Fuse = AMDSMI_GPU_BLOCK_FUSE;
    /// The machine check architecture.
    Mca = AMDSMI_GPU_BLOCK_MCA;
    /// The video units.
    Vcn = AMDSMI_GPU_BLOCK_VCN;
    /// The JPEG units.
    Jpeg = AMDSMI_GPU_BLOCK_JPEG;
    /// The interrupt handler.
    Ih = AMDSMI_GPU_BLOCK_IH;
    /// The processor of inputs and outputs.
    Mpio = AMDSMI_GPU_BLOCK_MPIO;
}

/// The blocks whose check bits are on, as the library's bits. Later versions have bits that [`Block`] has no name for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct EccBlocks(pub u64);

impl EccBlocks {
    /// Whether they are on for a block.
    pub fn contains(self, block: Block) -> bool {
        self.0 & block.raw().0 != 0
    }

    /// The bits that stand for no [`Block`].
    pub fn unknown(self) -> u64 {
        Block::ALL.iter().fold(self.0, |bits, block| bits & !block.raw().0)
    }
}

impl Processor {
    /// The blocks whose errors are found.
    ///
    /// # Errors
    /// Those of the library.
    #[doc(alias = "amdsmi_get_gpu_ecc_enabled")]
    pub fn ecc_blocks(&self) -> Result<EccBlocks> {
        Ok(EccBlocks(ask!(self, ecc_enabled)?))
    }

    /// The errors of one block.
    ///
    /// # Errors
    /// [`Error::NotSupported`](crate::Error::NotSupported) for a block that does not count, or those of the library.
    #[doc(alias = "amdsmi_get_gpu_ecc_count")]
    pub fn ecc_errors_of(&self, block: Block) -> Result<EccErrors> {
        Ok(EccErrors::of(ask!(self, ecc_count, block.raw())?))
    }

    pub(crate) fn ecc_now(&self) -> Result<EccErrors> {
        Ok(EccErrors::of(ask!(self, total_ecc_count)?))
    }
}
