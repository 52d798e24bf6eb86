//! Sorting along the last axis.
//!
//! An element and its position are packed into one integer. Comparing these orders by element first and then by
//! position, so that even an unstable sort, which is the fastest, gives a stable result.

use std::ops::Not;

use half::{bf16, f16};
use rayon::prelude::*;

use super::copy;
use crate::cpu::chunks::new_blocks;
use crate::cpu::dispatch::dispatch;
use crate::cpu::{CpuStorage, zeros};
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::{Error, ErrorKind, Result};
use crate::float8::F8E4M3;
use crate::layout::Layout;

/// Longer rows are sorted by several cores together.
const LONG: usize = 64 * 1024;
/// Elements that a core sorts before it takes the next rows.
const CHUNK: usize = 4 * 1024;

/// The first `keep` elements of each sorted row, and their positions. The layout has a last axis, with `keep` to
/// `u32::MAX` elements.
pub(crate) fn sort(
    storage: &CpuStorage,
    layout: &Layout,
    descending: bool,
    keep: usize,
    operation: &'static str,
) -> Result<(CpuStorage, CpuStorage)> {
    let length = layout.dims().last().copied().unwrap_or(1);
    if !layout.is_contiguous() {
        let tight = Layout::contiguous(layout.shape().clone(), operation)?;
        return sort(&copy::copy(storage, layout)?, &tight, descending, keep, operation);
    }
    let positions = positions(storage, layout, descending, keep, operation)?;
    let values = dispatch!(storage, elements: T => {
        let elements = &elements[layout.offset()..layout.end()];
        let values = new_blocks(positions.len(), operation, &|start, block: &mut [T], (): &mut ()| {
            for (index, value) in (start..).zip(block) {
                *value = elements[index / keep * length + positions[index] as usize];
            }
        });
        T::store(values?)
    });
    Ok((values, u32::store(positions)))
}

/// The positions of the first `keep` elements of each sorted row.
pub(crate) fn argsort(
    storage: &CpuStorage,
    layout: &Layout,
    descending: bool,
    keep: usize,
    operation: &'static str,
) -> Result<CpuStorage> {
    if !layout.is_contiguous() {
        let tight = Layout::contiguous(layout.shape().clone(), operation)?;
        return argsort(&copy::copy(storage, layout)?, &tight, descending, keep, operation);
    }
    positions(storage, layout, descending, keep, operation).map(u32::store)
}

/// As [`argsort`], for a contiguous layout.
fn positions(
    storage: &CpuStorage,
    layout: &Layout,
    descending: bool,
    keep: usize,
    operation: &'static str,
) -> Result<Vec<u32>> {
    let length = layout.dims().last().copied().unwrap_or(1);
    let rows = layout.elements().checked_div(length).unwrap_or(0);
    let mut out = zeros::<u32>(rows * keep, operation)?;
    if out.is_empty() {
        return Ok(out);
    }
    dispatch!(storage, elements: T => {
        let elements: &[T] = &elements[layout.offset()..layout.end()];
        let group = (CHUNK / length).max(1);
        let groups = out.par_chunks_mut(group * keep).zip(elements.par_chunks(group * length));
        groups.try_for_each_init(Vec::new, |packed, (out, rows)| {
            let mut pairs = out.chunks_mut(keep).zip(rows.chunks(length));
            pairs.try_for_each(|(out, row)| sort_row::<T>(row, descending, packed, out, operation))
        })?;
    });
    Ok(out)
}

/// Writes the positions of the first sorted elements, as many as fit `out`.
fn sort_row<T: Sortable>(
    row: &[T],
    descending: bool,
    packed: &mut Vec<<T::Rank as Rank>::Packed>,
    out: &mut [u32],
    operation: &'static str,
) -> Result<()> {
    packed.clear();
    packed.try_reserve(row.len()).map_err(|_| {
        let bytes = size_of_val(row).saturating_mul(size_of::<<T::Rank as Rank>::Packed>() / size_of::<T>());
        Error::new(operation, ErrorKind::OutOfMemory { bytes })
    })?;
    let turned = |rank: T::Rank| if descending { !rank } else { rank };
    packed.extend(row.iter().zip(0u32..).map(|(x, position)| turned(x.rank()).pack(position)));
    if out.len() < row.len() {
        packed.select_nth_unstable(out.len());
        packed.truncate(out.len());
    }
    if packed.len() > LONG {
        packed.par_sort_unstable();
    } else {
        packed.sort_unstable();
    }
    out.iter_mut().zip(packed).for_each(|(position, packed)| *position = T::Rank::position(*packed));
    Ok(())
}

/// An unsigned integer with the order of a dtype.
trait Rank: Copy + Ord + Not<Output = Self> {
    /// An integer that holds a rank and a position.
    type Packed: Copy + Ord + Send;

    /// Packs the rank into the high bits and the position into the low bits.
    fn pack(self, position: u32) -> Self::Packed;

    /// Unpacks the position.
    fn position(packed: Self::Packed) -> u32;
}

macro_rules! rank {
    ($rank:ty, $packed:ty) => {
        impl Rank for $rank {
            type Packed = $packed;

            fn pack(self, position: u32) -> $packed {
                <$packed>::from(self) << 32 | <$packed>::from(position)
            }

            fn position(packed: $packed) -> u32 {
                packed as u32
            }
        }
    };
}

rank!(u32, u64);
rank!(u64, u128);

/// An element type with a total order: all NaN are equal and the largest, −0 is below +0.
trait Sortable: Element {
    /// The type of ranks.
    type Rank: Rank;

    /// The rank of the element in this order.
    fn rank(self) -> Self::Rank;
}

macro_rules! integer {
    ($($type:ty, $rank:ty, $least:expr;)+) => {
        $(impl Sortable for $type {
            type Rank = $rank;

            fn rank(self) -> $rank {
                (self as $rank).wrapping_sub($least as $rank)
            }
        })+
    };
}

integer! {
    u8, u32, 0;
    u32, u32, 0;
    i16, u32, i16::MIN;
    i32, u32, i32::MIN;
    i64, u64, i64::MIN;
}

macro_rules! float {
    ($($type:ty, $bits:ty, $rank:ty;)+) => {
        $(impl Sortable for $type {
            type Rank = $rank;

            fn rank(self) -> $rank {
                const SIGN: $bits = 1 << (<$bits>::BITS - 1);
                let bits = self.to_bits();
                match bits {
                    _ if self.is_nan() => <$rank>::MAX,
                    _ if bits & SIGN != 0 => (!bits).into(),
                    _ => (bits | SIGN).into(),
                }
            }
        })+
    };
}

float! {
    F8E4M3, u8, u32;
    bf16, u16, u32;
    f16, u16, u32;
    f32, u32, u32;
    f64, u64, u64;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_follow_the_order() {
        fn rising<T: Sortable>(values: &[T]) {
            assert!(values.is_sorted_by(|a, b| a.rank() < b.rank()), "{values:?}");
        }
        rising(&[i16::MIN, -1, 0, 1, i16::MAX]);
        rising(&[i64::MIN, -1, 0, 1, i64::MAX]);
        rising(&[0u8, 1, 127, 128, 255]);
        rising(&[f32::NEG_INFINITY, -1.0, -0.0, 0.0, 1e-45, 1.0, f32::INFINITY, f32::NAN]);
        rising(&[f64::MIN, -f64::MIN_POSITIVE, -0.0, 0.0, 2.0, f64::INFINITY, -f64::NAN]);
        rising(&[0xfe, 0x81, 0x80, 0x00, 0x01, 0x7e, 0xff].map(F8E4M3::from_bits));
        assert_eq!((-f32::NAN).rank(), f32::NAN.rank());
    }
}
