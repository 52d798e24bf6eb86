//! Operations of a wave: the 32 or 64 threads that run together. Every lane of the wave has to reach them, or to have returned: on a GPU a
//! value from a lane that is elsewhere is arbitrary, and on NVIDIA's the launch may hang.

use crate::backend;
use crate::index::site;

/// Lanes of a wave: 64 on AMD's CDNA and on hip-host's device 1, 32 elsewhere. A constant in a GPU's code.
#[doc(alias = "warpSize")]
#[inline(always)]
pub fn wave_size() -> u32 {
    backend::wave_size()
}

/// The thread's lane in its wave.
#[doc(alias = "__lane_id")]
#[inline(always)]
pub fn lane() -> u32 {
    backend::lane()
}

/// The lanes for which the predicate is true: bit i for lane i.
#[doc(alias = "__ballot")]
#[inline(always)]
#[track_caller]
pub fn ballot(predicate: bool) -> u64 {
    backend::ballot(predicate, site())
}

/// The value that lane `from` has, modulo the wave size.
#[doc(alias = "__shfl")]
#[inline(always)]
#[track_caller]
pub fn shuffle<T: LaneValue>(value: T, from: u32) -> T {
    let site = site();
    value.each_word(|word| backend::shuffle(word, from, site))
}

/// The value of the lane whose number differs in the bits of `mask`.
#[doc(alias = "__shfl_xor")]
#[inline(always)]
#[track_caller]
pub fn shuffle_xor<T: LaneValue>(value: T, mask: u32) -> T {
    shuffle(value, lane() ^ mask)
}

/// The value of the lane that is `delta` higher; the thread's own if there is none.
#[doc(alias = "__shfl_down")]
#[inline(always)]
#[track_caller]
pub fn shuffle_down<T: LaneValue>(value: T, delta: u32) -> T {
    let from = lane().saturating_add(delta);
    shuffle(value, if from < wave_size() { from } else { lane() })
}

/// The value of the lane that is `delta` lower; the thread's own if there is none.
#[doc(alias = "__shfl_up")]
#[inline(always)]
#[track_caller]
pub fn shuffle_up<T: LaneValue>(value: T, delta: u32) -> T {
    shuffle(value, lane().checked_sub(delta).unwrap_or_else(lane))
}

/// Values that lanes pass to each other: numbers of 4 and 8 bytes.
pub trait LaneValue: Copy + sealed::Sealed {
    /// The value of which each 32-bit word is what the function makes of it.
    #[doc(hidden)]
    fn each_word(self, function: impl FnMut(u32) -> u32) -> Self;
}

mod sealed {
    pub trait Sealed {}
}

macro_rules! lane_values {
    ($($type:ty: $to:expr, $from:expr, $bits:ty;)*) => {$(
        impl sealed::Sealed for $type {}
        impl LaneValue for $type {
            #[inline(always)]
            fn each_word(self, function: impl FnMut(u32) -> u32) -> Self {
                $from(<$bits as Words>::map($to(self), function))
            }
        }
    )*};
}

lane_values! {
    u32: core::convert::identity, core::convert::identity, u32;
    i32: i32::cast_unsigned, u32::cast_signed, u32;
    f32: f32::to_bits, f32::from_bits, u32;
    u64: core::convert::identity, core::convert::identity, u64;
    i64: i64::cast_unsigned, u64::cast_signed, u64;
    f64: f64::to_bits, f64::from_bits, u64;
}

trait Words {
    fn map(self, function: impl FnMut(u32) -> u32) -> Self;
}

impl Words for u32 {
    #[inline(always)]
    fn map(self, mut function: impl FnMut(u32) -> u32) -> Self {
        function(self)
    }
}

impl Words for u64 {
    #[inline(always)]
    fn map(self, mut function: impl FnMut(u32) -> u32) -> Self {
        let (low, high) = (function(self as u32), function((self >> 32) as u32));
        u64::from(high) << 32 | u64::from(low)
    }
}
