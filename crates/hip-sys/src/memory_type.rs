//! The two numberings of `hipMemoryType`: ROCm 6.0 renumbered it.

use crate::{Version, hip::hipMemoryType};

/// What a pointer points to, whichever numbering the library uses.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum MemoryKind {
    /// Host memory that HIP does not know.
    Unregistered,
    /// Pinned or registered host memory.
    Host,
    /// Memory of a device.
    Device,
    /// Managed memory.
    Managed,
    /// An array.
    Array,
    /// Unified memory.
    Unified,
    /// A number that neither numbering has.
    Unknown(u32),
}

impl MemoryKind {
    /// Reads the number that a library of the given version wrote.
    #[doc(alias = "hipMemoryType")]
    pub fn from_raw(raw: hipMemoryType, version: Version) -> Self {
        match (version.major >= 6, raw.0) {
            (true, 0) => Self::Unregistered,
            (true, 1) | (false, 0) => Self::Host,
            (true, 2) | (false, 1) => Self::Device,
            (true, 3) | (false, 4) => Self::Managed,
            (true, 10) | (false, 2) => Self::Array,
            (true, 11) | (false, 3) => Self::Unified,
            (_, other) => Self::Unknown(other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_numberings() {
        let read =
            |major, raw| MemoryKind::from_raw(hipMemoryType(raw), Version { major, minor: 0, patch: 0 });
        assert_eq!([0, 1, 2, 3, 4].map(|n| read(5, n)), {
            use MemoryKind::*;
            [Host, Device, Array, Unified, Managed]
        });
        assert_eq!([0, 1, 2, 3, 10, 11, 4].map(|n| read(6, n)), {
            use MemoryKind::*;
            [Unregistered, Host, Device, Managed, Array, Unified, Unknown(4)]
        });
    }
}
