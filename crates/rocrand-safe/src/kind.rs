//! Kinds of generators.

/// A kind of generator. `COVERAGE.md` says which of them a platform's library has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Kind {
    /// G. Marsaglia's XORWOW: rocRAND's default.
    Xorwow,
    /// P. L'Ecuyer's MRG32k3a.
    Mrg32k3a,
    /// M. Saito's Mersenne Twister for graphics cards.
    Mtgp32,
    /// Philox with ten rounds: a counter, encrypted. The position in the sequence costs nothing to set.
    Philox4x32x10,
    /// P. L'Ecuyer's and R. Touzin's MRG31k3p.
    Mrg31k3p,
    /// P. L'Ecuyer's LFSR113.
    Lfsr113,
    /// The Mersenne Twister MT19937.
    Mt19937,
    /// Threefry with 20 rounds and two words of 32 bits.
    Threefry2x32x20,
    /// Threefry with 20 rounds and two words of 64 bits.
    Threefry2x64x20,
    /// Threefry with 20 rounds and four words of 32 bits.
    Threefry4x32x20,
    /// Threefry with 20 rounds and four words of 64 bits.
    Threefry4x64x20,
    /// Sobol points with coordinates of 32 bits.
    Sobol32,
    /// The same, scrambled.
    ScrambledSobol32,
    /// Sobol points with coordinates of 64 bits.
    Sobol64,
    /// The same, scrambled.
    ScrambledSobol64,
}

/// In which order a pseudo-random generator's numbers lie in memory. The library's threads make them, in a number that may depend on the device.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Ordering {
    /// The order that the library's authors recommend.
    Best,
    /// The order of a new generator: the same on all devices.
    Default,
    /// For XORWOW: each thread has a seed instead of a part of one sequence, which starts sooner.
    Seeded,
    /// The order of the library's first versions.
    Legacy,
    /// An order for the device, which may be faster.
    Dynamic,
}

impl Kind {
    /// Every kind.
    pub const ALL: [Self; 15] = [
        Self::Xorwow,
        Self::Mrg32k3a,
        Self::Mtgp32,
        Self::Philox4x32x10,
        Self::Mrg31k3p,
        Self::Lfsr113,
        Self::Mt19937,
        Self::Threefry2x32x20,
        Self::Threefry2x64x20,
        Self::Threefry4x32x20,
        Self::Threefry4x64x20,
        Self::Sobol32,
        Self::ScrambledSobol32,
        Self::Sobol64,
        Self::ScrambledSobol64,
    ];

    /// Whether its sequence is quasi-random: points that fill the space evenly.
    pub const fn is_quasi(self) -> bool {
        matches!(self, Self::Sobol32 | Self::ScrambledSobol32 | Self::Sobol64 | Self::ScrambledSobol64)
    }

    /// The bits of its words.
    pub const fn word_bits(self) -> u32 {
        match self {
            Self::Threefry2x64x20 | Self::Threefry4x64x20 | Self::Sobol64 | Self::ScrambledSobol64 => 64,
            _ => 32,
        }
    }

    /// Whether a sequence can be started at an offset.
    pub const fn has_offset(self) -> bool {
        !matches!(self, Self::Mtgp32 | Self::Mt19937 | Self::Lfsr113)
    }
}
