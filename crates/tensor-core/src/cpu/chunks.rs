//! Writing an array chunk by chunk, by one core or by all: an array that is there, or a new one.
//!
//! The memory of a new array is not zeroed as a whole, which would be a pass over it of its own: each chunk is zeroed right
//! before it is written, when it is about to be in the first-level cache anyway. So no code ever sees memory that was not written.

use std::mem::MaybeUninit;

use rayon::prelude::*;

use super::out_of_memory;
use crate::element::Element;
use crate::error::Result;

/// Elements of one block: small enough that a few blocks of `f64` stay in the first-level cache.
pub(super) const BLOCK: usize = 2048;
/// Below this many elements, handing chunks to other cores costs more than it saves.
const PARALLEL: usize = 32 * 1024;

/// Writes a chunk: gets the index of its first element, the chunk, and memory to use.
pub(super) type Fill<'a, U, S> = dyn Fn(usize, &mut [U], &mut S) + Sync + 'a;

/// `count` new elements, which `fill` writes block by block. What it leaves out is zero.
///
/// # Errors
/// [`crate::ErrorKind::OutOfMemory`], in the name of `operation`, if the system does not give the memory.
pub(super) fn new_blocks<U: Element, S: Default>(
    count: usize,
    operation: &'static str,
    fill: &Fill<'_, U, S>,
) -> Result<Vec<U>> {
    new_chunks(count, (BLOCK, 1), operation, fill)
}

/// As [`new_blocks`], in chunks of `size` elements, each of which takes as long as reading `work` others.
pub(super) fn new_chunks<U: Element, S: Default>(
    count: usize,
    (size, work): (usize, usize),
    operation: &'static str,
    fill: &Fill<'_, U, S>,
) -> Result<Vec<U>> {
    let mut out = Vec::new();
    out.try_reserve_exact(count).map_err(|_| out_of_memory::<U>(count, operation))?;
    let room = &mut out.spare_capacity_mut()[..count];
    fill_chunks(room, size, work, &|start, chunk, scratch| fill(start, zeroed(chunk), scratch));
    // SAFETY: S15: all `count` elements were written: each lies in one chunk, which was zeroed. A panic of `fill` does not come here.
    unsafe { out.set_len(count) };
    Ok(out)
}

/// The chunk, filled with zeros.
fn zeroed<U: Element>(chunk: &mut [MaybeUninit<U>]) -> &mut [U] {
    chunk.fill(MaybeUninit::new(U::default()));
    // SAFETY: S15: every element was just written, and `MaybeUninit` has the layout of what is in it.
    unsafe { &mut *(chunk as *mut [MaybeUninit<U>] as *mut [U]) }
}

/// Lets `fill` write `out` block by block.
pub(super) fn fill_blocks<U: Send, S: Default>(out: &mut [U], fill: &Fill<'_, U, S>) {
    fill_chunks(out, BLOCK, 1, fill);
}

/// As [`fill_blocks`], in chunks of `size` elements, each of which takes as long as reading `work` others.
pub(super) fn fill_chunks<U: Send, S: Default>(
    out: &mut [U],
    size: usize,
    work: usize,
    fill: &Fill<'_, U, S>,
) {
    if out.len() <= size || out.len().saturating_mul(work) < PARALLEL {
        let mut scratch = S::default();
        for (index, chunk) in out.chunks_mut(size).enumerate() {
            fill(index * size, chunk, &mut scratch);
        }
    } else {
        let chunks = out.par_chunks_mut(size).enumerate();
        chunks.for_each_init(S::default, |scratch, (index, chunk)| fill(index * size, chunk, scratch));
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn every_element_is_written_once_and_was_zero() {
        for count in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 20 * BLOCK + 7] {
            let made = new_blocks(count, "test", &|start, block: &mut [u32], (): &mut ()| {
                for (x, i) in block.iter_mut().zip(start..) {
                    *x += i as u32 + 1;
                }
            });
            assert!(made.unwrap().into_iter().eq(1..=count as u32));
        }
    }

    #[test]
    fn a_panic_of_one_chunk_leaves_nothing_behind() {
        let made = catch_unwind(AssertUnwindSafe(|| {
            new_blocks(20 * BLOCK, "test", &|start, block: &mut [u8], (): &mut ()| {
                assert!(start != 3 * BLOCK, "stop");
                block.fill(1);
            })
        }));
        assert!(made.is_err());
    }

    #[test]
    fn more_than_there_is_is_an_error() {
        let fill = |_: usize, _: &mut [f64], (): &mut ()| {};
        assert!(new_blocks(usize::MAX / 4, "test", &fill).is_err());
    }
}
