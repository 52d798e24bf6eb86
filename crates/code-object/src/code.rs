//! A code object: an ELF file for one GPU, or for a family of them.

use crate::elf::Elf;
use crate::{Error, KernelInfo, TargetId, descriptor, metadata, symbols};

/// The contents of a code object.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub struct CodeObject {
    /// The target it was built for. `None` only in old files for processors that this crate has no name for.
    pub target: Option<TargetId>,
    /// The version of its format, as in the compiler's `-mcode-object-version`: 3 to 6 at the time of writing.
    pub version: u8,
    /// Its kernels. Names are unique.
    pub kernels: Vec<KernelInfo>,
}

impl CodeObject {
    /// Parses a code object, a 64-bit ELF file.
    ///
    /// Returns `Ok(None)` for an ELF file of another machine, or one without metadata, such as code object
    /// version 2. Even then every section and segment is known to lie inside `bytes`; for AMD's files, also
    /// everything that symbols and relocations refer to.
    ///
    /// Every kernel returned is checked: its arguments ascend, do not overlap and lie within `kernarg_bytes`;
    /// its descriptor lies in the file and refers to code. Files linked from several objects have several
    /// notes, which are merged.
    ///
    /// # Errors
    /// What is wrong with the file: [`Error::Elf`], [`Error::Target`], [`Error::Metadata`] or
    /// [`Error::Kernel`].
    pub fn parse(bytes: &[u8]) -> Result<Option<Self>, Error> {
        let elf = Elf::parse(bytes)?;
        if !elf.is_amd() {
            return Ok(None);
        }
        let version = elf.code_object_version()?;
        let symbols = symbols::read(&elf)?;
        symbols::check_relocations(&elf)?;
        let Some(mut note) = metadata::read(&elf.metadata()?)? else { return Ok(None) };
        let target = agreed(TargetId::of_flags(elf.flags(), version), note.target)?;
        for kernel in &mut note.kernels {
            descriptor::check(&elf, &symbols, kernel)?;
        }
        Ok(Some(Self { target, version, kernels: note.kernels }))
    }

    /// Whether the bytes begin like an ELF file for AMD's GPUs.
    pub fn is_for_amd(bytes: &[u8]) -> bool {
        Elf::parse(bytes).is_ok_and(|elf| elf.is_amd())
    }

    /// The kernel with that name.
    pub fn kernel(&self, name: &str) -> Option<&KernelInfo> {
        self.kernels.iter().find(|kernel| kernel.name == name)
    }

    /// The wave size of its kernels, if it has kernels and all have the same.
    pub fn wave_size(&self) -> Option<u64> {
        let first = self.kernels.first()?.wave_size;
        self.kernels.iter().all(|kernel| kernel.wave_size == first).then_some(first)
    }
}

/// The target according to the header's flags and the metadata, which must not contradict each other.
fn agreed(flags: Option<TargetId>, note: Option<TargetId>) -> Result<Option<TargetId>, Error> {
    match (flags, note) {
        (Some(flags), Some(note)) if flags != note => {
            Err(Error::Target(format!("it is {flags} by its header and {note} by its metadata")))
        }
        (flags, note) => Ok(note.or(flags)),
    }
}
