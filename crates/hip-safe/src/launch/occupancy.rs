//! Occupancy and resource usage of kernels.

use crate::code::ask_attribute;
use crate::convert::count32;
use crate::raw;
use crate::{Error, Function, Result};
use hip_sys::Platform;
use hip_sys::hip::{hipFuncAttribute, hipFunction_attribute};
use std::ffi::c_int;

/// A block size with the best occupancy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SuggestedBlock {
    /// Threads in a block.
    pub block: u32,
    /// The smallest grid that fills the device.
    pub grid: u32,
}

/// The attributes of a kernel. `None` where the platform does not tell one.
#[doc(alias = "hipFuncAttributes")]
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[non_exhaustive]
pub struct FunctionAttributes {
    /// Threads that a block may have.
    pub max_threads_per_block: Option<u32>,
    /// Bytes of static shared memory.
    pub shared_bytes: Option<u32>,
    /// The most bytes of dynamic shared memory.
    pub max_dynamic_shared_bytes: Option<u32>,
    /// Bytes of constant memory that it declares.
    pub constant_bytes: Option<u32>,
    /// Bytes of local memory of each thread.
    pub local_bytes: Option<u32>,
    /// 32-bit registers of each thread.
    pub registers: Option<u32>,
}

impl Function {
    /// The number of resident blocks of `block` threads and `shared_bytes` bytes of dynamic shared memory on one multiprocessor. 0 if such a block
    /// does not fit.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, such as for more threads than a block may have; [`Error::Poisoned`] after
    /// a sticky one.
    #[doc(alias = "hipModuleOccupancyMaxActiveBlocksPerMultiprocessor")]
    pub fn occupancy(&self, block: u32, shared_bytes: u32) -> Result<u32> {
        let (block, shared) = (c_int::try_from(block).unwrap_or(c_int::MAX), shared_bytes as usize);
        // SAFETY: S1, S3: the function is live and its device current.
        let ask = |p: &Platform| unsafe { raw::functions::active_blocks(p, self.raw(), block, shared) };
        let blocks =
            self.device().run(|| format!("asking for the occupancy of kernel {}", self.name()), ask)?;
        Ok(count32(blocks))
    }

    /// The block size with the best occupancy, with `shared_bytes` bytes of dynamic shared memory for each block.
    ///
    /// # Errors
    /// As [`Function::occupancy`].
    #[doc(alias = "hipModuleOccupancyMaxPotentialBlockSize")]
    pub fn suggested_block(&self, shared_bytes: u32) -> Result<SuggestedBlock> {
        let shared = shared_bytes as usize;
        // SAFETY: S1, S3: the function is live and its device current.
        let ask = |p: &Platform| unsafe { raw::functions::potential_block(p, self.raw(), shared) };
        let doing = || format!("asking for the best block of kernel {}", self.name());
        let (grid, block) = self.device().run(doing, ask)?;
        Ok(SuggestedBlock { block: count32(block), grid: count32(grid) })
    }

    /// Its attributes.
    ///
    /// # Errors
    /// As [`Function::occupancy`].
    #[doc(alias = "hipFuncGetAttribute")]
    pub fn attributes(&self) -> Result<FunctionAttributes> {
        use hipFunction_attribute as A;
        let ask = |attribute| ask_attribute(self.device(), self.name(), self.handle(), attribute);
        Ok(FunctionAttributes {
            max_threads_per_block: ask(A::HIP_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK)?,
            shared_bytes: ask(A::HIP_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)?,
            max_dynamic_shared_bytes: ask(A::HIP_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES)?,
            constant_bytes: ask(A::HIP_FUNC_ATTRIBUTE_CONST_SIZE_BYTES)?,
            local_bytes: ask(A::HIP_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES)?,
            registers: ask(A::HIP_FUNC_ATTRIBUTE_NUM_REGS)?,
        })
    }

    /// Allows launches up to `bytes` bytes of dynamic shared memory, for devices that offer more than
    /// [`Properties::shared_memory_per_block`](crate::Properties::shared_memory_per_block) on request. It applies to this function and its clones.
    ///
    /// # Errors
    /// [`Error::Hip`] if the driver returns an error, such as for more than the device has; [`Error::Poisoned`] after a sticky
    /// one.
    #[doc(alias = "hipFuncSetAttribute")]
    #[doc(alias = "hipFuncAttributeMaxDynamicSharedMemorySize")]
    pub fn allow_dynamic_shared(&self, bytes: u32) -> Result<()> {
        let attribute = hipFuncAttribute::hipFuncAttributeMaxDynamicSharedMemorySize;
        let value = c_int::try_from(bytes).unwrap_or(c_int::MAX);
        // SAFETY: S1, S3: the function is live and its device current.
        let set = |p: &Platform| unsafe { raw::functions::set_attribute(p, self.raw(), attribute, value) };
        let doing = || format!("allowing kernel {} {bytes} bytes of shared memory", self.name());
        self.device().run(doing, set)?;
        self.note_dynamic_shared(bytes);
        Ok(())
    }

    /// Refuses a cooperative launch whose blocks cannot all be resident at once.
    pub(crate) fn check_cooperative(&self, grid: [u32; 3], block: [u32; 3], shared_bytes: u32) -> Result<()> {
        let properties = self.device().properties();
        if !properties.cooperative_launch {
            return Err(Error::NotOffered { device: self.device().label(), what: "cooperative launches" });
        }
        let product = |sizes: [u32; 3]| sizes.iter().map(|&n| u64::from(n)).fold(1, u64::saturating_mul);
        let threads = u32::try_from(product(block)).unwrap_or(u32::MAX);
        let per_processor = self.occupancy(threads, shared_bytes)?;
        let (blocks, most) =
            (product(grid), u64::from(per_processor) * u64::from(properties.multiprocessors));
        if blocks <= most {
            return Ok(());
        }
        Err(Error::LaunchLimit {
            kernel: self.name().into(),
            what: "the number of blocks of a cooperative grid",
            requested: blocks,
            limit: format!("1 to {most}, which run at once"),
        })
    }
}
