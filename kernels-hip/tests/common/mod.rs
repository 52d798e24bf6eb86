//! Shared by the tests: launches on the host devices, and number formats computed from their definition.
#![allow(dead_code, unreachable_pub, reason = "each test program uses its part")]

pub mod convolution;
pub mod device;
pub mod formats;

/// A small generator of test inputs (SplitMix64).
pub struct Random(pub u64);

impl Random {
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ (self.0 >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }
}
