//! Quantized blocks in device memory.
//!
//! Files store one block after the other. Here each block is cut into parts of like size, its small integers and its scales,
//! and the same part of all blocks lies together, so that neighbouring threads read neighbouring aligned bytes.

use std::fmt;

use kernels_hip::args::{MAX_PARTS, QuantMap};
use triomphe::Arc;

use super::ops::copy;
use super::{HipDevice, HipStorage};
use crate::cpu::CpuStorage;
use crate::dtype::DType;
use crate::error::{Error, ErrorKind, Result};
use crate::layout::Layout;
use crate::quant::QuantFormat;

/// Blocks of quantized numbers in the memory of a HIP device. A clone shares them.
#[derive(Clone)]
pub struct QHipStorage {
    kernels: &'static Kernels,
    blocks: usize,
    /// Where each part begins, in bytes.
    begin: [usize; MAX_PARTS],
    memory: Arc<HipStorage>,
}

/// A format that has kernels.
pub(super) struct Kernels {
    format: QuantFormat,
    /// The format's name in those of kernels.
    pub name: &'static str,
    /// Where each part is in a block of a file: first byte and length. The largest alignment is first.
    parts: &'static [(usize, usize)],
    pub unpack: &'static str,
    pub rows: &'static str,
    /// With one row of activations, for several matrices.
    pub row: &'static str,
    /// With four and eight rows of activations.
    pub dots: [&'static str; 2],
    pub experts: &'static str,
}

macro_rules! kernels {
    ($($format:ident $name:literal $parts:expr;)+) => {
        [$(Kernels {
            format: QuantFormat::$format,
            name: $name,
            parts: &$parts,
            unpack: concat!("unpack_", $name),
            rows: concat!("rows_", $name),
            row: concat!("dot1_", $name),
            dots: [concat!("dot4_", $name), concat!("dot8_", $name)],
            experts: concat!("experts_", $name),
        }),+]
    };
}

static KERNELS: [Kernels; 13] = kernels! {
    Q4_0 "q4_0" [(2, 16), (0, 2)];
    Q4_1 "q4_1" [(4, 16), (0, 4)];
    Q5_0 "q5_0" [(6, 16), (2, 4), (0, 2)];
    Q5_1 "q5_1" [(8, 16), (4, 4), (0, 4)];
    Q8_0 "q8_0" [(2, 32), (0, 2)];
    Q2K "q2_k" [(16, 64), (0, 16), (80, 4)];
    Q3K "q3_k" [(32, 64), (0, 32), (96, 12), (108, 2)];
    Q4K "q4_k" [(16, 128), (0, 16)];
    Q5K "q5_k" [(48, 128), (16, 32), (0, 16)];
    Q6K "q6_k" [(0, 128), (128, 64), (192, 16), (208, 2)];
    IQ4NL "iq4_nl" [(2, 16), (0, 2)];
    IQ4XS "iq4_xs" [(8, 128), (0, 8)];
    MXFP4 "mxfp4" [(1, 16), (0, 1)];
};

/// Kernels count blocks with 32 bits, and round rows up to whole turns of a block of threads.
const MOST_BLOCKS: usize = (u32::MAX - 255) as usize;
/// Each part begins at a multiple of so many bytes.
const ALIGNMENT: usize = 256;

impl Kernels {
    fn of(format: QuantFormat, operation: &'static str) -> Result<&'static Kernels> {
        KERNELS.iter().find(|kernels| kernels.format == format).ok_or_else(|| {
            let known: Vec<_> = KERNELS.iter().map(|kernels| kernels.format.name()).collect();
            let what = format!(
                "there are no kernels for {format}: dequantize it on the CPU, or use one of {}",
                known.join(", ")
            );
            Error::new(operation, ErrorKind::Argument { what })
        })
    }

    /// Where the parts of so many blocks begin, and the bytes of all. `None` if they do not fit the address space.
    fn offsets(&self, blocks: usize) -> Option<([usize; MAX_PARTS], usize)> {
        let (mut begin, mut end) = ([0; MAX_PARTS], 0_usize);
        for (begin, (_, size)) in begin.iter_mut().zip(self.parts) {
            *begin = end;
            end = blocks.checked_mul(*size)?.checked_add(end)?.checked_next_multiple_of(ALIGNMENT)?;
        }
        Some((begin, end))
    }
}

impl QHipStorage {
    /// The format of the blocks.
    pub fn dtype(&self) -> QuantFormat {
        self.kernels.format
    }

    /// The device of the memory.
    pub fn device(&self) -> &HipDevice {
        self.memory.device()
    }

    /// The bytes of the blocks in a file. Device memory has up to 1 KiB more.
    pub fn size_in_bytes(&self) -> usize {
        self.blocks * self.dtype().type_size()
    }

    /// Names the memory in lists of live buffers.
    pub(crate) fn set_name(&self, name: &dyn fmt::Display) {
        self.memory.set_name(name);
    }

    /// The blocks that `raw` has as bytes of a file: whole blocks.
    pub(crate) fn arrange(raw: &HipStorage, format: QuantFormat, operation: &'static str) -> Result<Self> {
        let kernels = Kernels::of(format, operation)?;
        let blocks = raw.len() / format.type_size();
        let offsets = kernels.offsets(blocks).filter(|_| blocks <= MOST_BLOCKS);
        let Some((begin, bytes)) = offsets else {
            let what =
                format!("{blocks} blocks of {format} are more than the {MOST_BLOCKS} that kernels count");
            return Err(Error::new(operation, ErrorKind::Argument { what }));
        };
        // SAFETY: S15: the copies below write all bytes but those between parts, which nothing reads.
        let mut memory = unsafe { HipStorage::uninit(raw.device(), DType::U8, bytes, operation) }?;
        for (index, part) in kernels.parts.iter().enumerate() {
            let (there, here) = layouts(kernels, blocks, begin[index], *part, operation)?;
            copy::copy_from(&mut memory, &here, raw, &there)?;
        }
        Ok(Self { kernels, blocks, begin, memory: Arc::new(memory) })
    }

    /// The blocks as bytes of a file, in host memory. Waits for the device.
    pub(crate) fn to_bytes(&self, operation: &'static str) -> Result<Vec<u8>> {
        let bytes = self.size_in_bytes();
        // SAFETY: S15: the parts of a block are all of it, and the copies below write all blocks.
        let mut raw = unsafe { HipStorage::uninit(self.device(), DType::U8, bytes, operation) }?;
        for (index, part) in self.kernels.parts.iter().enumerate() {
            let (there, here) = layouts(self.kernels, self.blocks, self.begin[index], *part, operation)?;
            copy::copy_from(&mut raw, &there, &self.memory, &here)?;
        }
        match raw.to_cpu(0, bytes, operation)? {
            CpuStorage::U8(bytes) => Ok(bytes),
            other => Err(crate::cpu::unsupported(operation, &other)),
        }
    }

    pub(super) fn kernels(&self) -> &'static Kernels {
        self.kernels
    }

    pub(super) fn memory(&self) -> &HipStorage {
        &self.memory
    }

    /// The number of elements.
    pub(super) fn elements(&self) -> usize {
        self.blocks * self.dtype().block_size()
    }

    /// The map of a kernel that makes `count` rows of `width` elements.
    pub(super) fn map(&self, width: usize, count: usize) -> QuantMap {
        let begin = self.begin.map(|begin| begin as u64);
        QuantMap { width: width as u64, count: count as u64, begin, ..QuantMap::default() }
    }
}

/// A part of all blocks, in a file and on the device.
fn layouts(
    kernels: &Kernels,
    blocks: usize,
    begin: usize,
    (first, size): (usize, usize),
    operation: &'static str,
) -> Result<(Layout, Layout)> {
    let there = Layout::strided([blocks, size], &[kernels.format.type_size(), 1], first, operation)?;
    Ok((there, Layout::strided([blocks, size], &[size, 1], begin, operation)?))
}

impl fmt::Debug for QHipStorage {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "QHipStorage({} bytes of {} on {})", self.size_in_bytes(), self.dtype(), self.device())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_of_a_block_are_all_of_it() {
        for kernels in &KERNELS {
            let mut parts = kernels.parts.to_vec();
            parts.sort_unstable();
            let end = parts.iter().fold(0, |end, (first, size)| {
                assert_eq!(*first, end, "{}", kernels.format);
                first + size
            });
            assert_eq!(end, kernels.format.type_size(), "{}", kernels.format);
            let names = [kernels.name, kernels.unpack, kernels.rows, kernels.experts];
            assert!(names.iter().all(|name| name.ends_with(kernels.format.name())));
            assert_eq!(kernels.offsets(usize::MAX / 2), None);
        }
    }
}
