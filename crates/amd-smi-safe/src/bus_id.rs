//! The address of a GPU on the PCI bus.

use std::fmt;

/// An address on the PCI bus: `0000:c1:00.0`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct BusId {
    /// The domain.
    pub domain: u64,
    /// The bus.
    pub bus: u8,
    /// The device, below 32.
    pub device: u8,
    /// The function, below 8. It tells the partitions of one GPU apart.
    pub function: u8,
}

impl BusId {
    /// From the bits of an `amdsmi_bdf_t`.
    pub(crate) fn from_bits(bits: u64) -> Self {
        let [low, bus, ..] = bits.to_le_bytes();
        Self { domain: bits >> 16, bus, device: low >> 3, function: low & 7 }
    }
}

impl fmt::Display for BusId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { domain, bus, device, function } = self;
        write!(f, "{domain:04x}:{bus:02x}:{device:02x}.{function}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The bits of the header's structure: function 3, device 5, bus 8, domain 48.
    #[test]
    fn bits_are_taken_apart() {
        let id = BusId::from_bits(0x1_2345 << 16 | 0xc1 << 8 | 0x1f << 3 | 7);
        assert_eq!(id, BusId { domain: 0x1_2345, bus: 0xc1, device: 0x1f, function: 7 });
        assert_eq!(id.to_string(), "12345:c1:1f.7");
        assert_eq!(BusId::from_bits(0).to_string(), "0000:00:00.0");
    }
}
