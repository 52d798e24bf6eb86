//! The descriptor of a kernel: 64 bytes that the GPU's command processor reads. It repeats part of the
//! metadata, and has the offset of the code.

use crate::elf::Elf;
use crate::symbols::Extent;
use crate::{Error, KernelInfo};
use std::collections::HashMap;

/// Size of a descriptor in bytes, and its alignment.
const SIZE: u64 = 64;

/// Checks that the kernel's descriptor is in the file, has the argument size of the metadata, and refers to
/// code.
///
/// If the two disagree on the memory that a kernel needs, the larger size is kept: it is enough for either.
pub(crate) fn check(
    elf: &Elf,
    symbols: &HashMap<&[u8], Extent>,
    kernel: &mut KernelInfo,
) -> Result<(), Error> {
    let name = kernel.name.clone();
    let refuse = |what: String| Err(Error::Kernel(format!("kernel {name}: {what}")));
    let symbol = &kernel.symbol;
    let Some(&Extent { address, size }) = symbols.get(symbol.as_bytes()) else {
        return refuse(format!("its descriptor {symbol} is no symbol of the file"));
    };
    if size != SIZE || !address.is_multiple_of(SIZE) {
        return refuse(format!(
            "its descriptor {symbol} has {size} bytes at {address:#x}, not {SIZE} aligned to {SIZE}"
        ));
    }
    let Some(bytes) = elf.loaded::<64>(address)? else {
        return refuse(format!("its descriptor {symbol} lies at {address:#x}, outside of what is loaded"));
    };
    let word = |at: usize| {
        let mut word = [0; 4];
        word.copy_from_slice(&bytes[at..at + 4]);
        u64::from(u32::from_le_bytes(word))
    };
    kernel.shared_bytes = kernel.shared_bytes.max(word(0));
    kernel.private_bytes = kernel.private_bytes.max(word(4));
    // Compilers before LLVM 11 left this field empty.
    let arguments = word(8);
    if ![0, kernel.kernarg_bytes].contains(&arguments) {
        return refuse(format!(
            "bytes of arguments are {arguments} by its descriptor and {} by the metadata",
            kernel.kernarg_bytes
        ));
    }
    let entry = address.wrapping_add(word(16) | word(20) << 32);
    if !elf.has_code_at(entry)? {
        return refuse(format!("its code would be at {entry:#x}, where none is loaded"));
    }
    Ok(())
}
