//! Floats of 8 bits, as patterns: their arithmetic is the device's.

use bytemuck::{Pod, Zeroable};

macro_rules! float8 {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Pod, Zeroable)]
        pub struct $name(pub u8);

        impl $name {
            /// The float of a pattern.
            pub const fn from_bits(bits: u8) -> Self {
                Self(bits)
            }

            /// Its pattern.
            pub const fn to_bits(self) -> u8 {
                self.0
            }
        }
    )*};
}

float8! {
    /// OCP's E4M3, up to 448: the kind of CDNA 4, RDNA 4 and of NVIDIA's cards. `1.0` has the pattern `0x38`.
    F8E4M3;
    /// OCP's E5M2, up to 57344 and infinity. `1.0` has the pattern `0x3c`.
    F8E5M2;
    /// AMD's E4M3 of CDNA 3 (gfx942), up to 240; the pattern `0x80` is the NaN. `1.0` has the pattern `0x40`.
    F8E4M3Fnuz;
    /// AMD's E5M2 of CDNA 3 (gfx942), up to 57344; the pattern `0x80` is the NaN. `1.0` has the pattern `0x40`.
    F8E5M2Fnuz;
}
