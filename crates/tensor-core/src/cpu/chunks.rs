//! Writing an existing or a new array in chunks, on one or several cores.
//!
//! The memory of a new array is not zeroed as a whole, which would cost an extra pass. Loops that write each element
//! once write into an [`Output`]; for others each chunk is zeroed right before it is written. No code ever sees
//! uninitialised memory.

use std::mem::MaybeUninit;

use parking_lot::Mutex;

use super::output::Output;
use crate::element::Element;
use crate::error::Result;
use crate::memory::vec_with_capacity;

/// Elements per block. A few blocks of `f64` fit the L1 cache.
pub(super) const BLOCK: usize = 2048;
/// The default cost of an element, in [units](SHARE).
const WORK: usize = 4;
/// The work that justifies waking a core, in units of 0.1 ns, the time of adding two `f32`. Waking takes 10 to 20
/// microseconds.
pub(super) const SHARE: usize = 128 * 1024;
/// Pieces per core if all cores are equally fast. A faster core takes more.
const PIECES: usize = 32;

/// Writes a chunk, given the index of its first element, the chunk, and scratch memory.
pub(super) type Fill<'a, U, S> = dyn Fn(usize, &mut [U], &mut S) + Sync + 'a;
/// Writes a new chunk, given the index of its first element, the output for the chunk, and scratch memory.
pub(super) type Write<'a, U, S> = dyn Fn(usize, &mut Output<'_, U>, &mut S) + Sync + 'a;

/// `count` new elements, which `write` writes in chunks of `size`. `work` is the cost of an element, in [units](SHARE).
/// Elements not written are zero.
///
/// # Errors
/// [`crate::ErrorKind::OutOfMemory`] of `operation` if the allocation fails.
pub(super) fn new_outputs<U: Element, S: Default>(
    count: usize,
    (size, work): (usize, usize),
    operation: &'static str,
    write: &Write<'_, U, S>,
) -> Result<Vec<U>> {
    let mut out = vec_with_capacity::<U>(count, operation)?;
    let slots = &mut out.spare_capacity_mut()[..count];
    fill_chunks(slots, size, work, &|start, chunk: &mut [MaybeUninit<U>], scratch| {
        let addresses = chunk.as_ptr_range();
        let mut output = Output::new(chunk);
        write(start, &mut output, scratch);
        assert_eq!(output.address_range(), addresses, "the output is still the chunk's");
        output.zeroed(output.left());
    });
    // SAFETY: S15: all `count` elements were written: each is in one chunk, and `write`'s remainder of that was zeroed.
    // A panic of `write`, or one because it replaced the output, does not reach this line.
    unsafe { out.set_len(count) };
    Ok(out)
}

/// As [`new_outputs`], but `fill` gets zeroed chunks.
pub(super) fn new_chunks<U: Element, S: Default>(
    count: usize,
    size_and_work: (usize, usize),
    operation: &'static str,
    fill: &Fill<'_, U, S>,
) -> Result<Vec<U>> {
    new_outputs(count, size_and_work, operation, &|start, output, scratch| {
        fill(start, output.zeroed(output.left()), scratch)
    })
}

/// As [`new_chunks`], in blocks, for cheap elements.
pub(super) fn new_blocks<U: Element, S: Default>(
    count: usize,
    operation: &'static str,
    fill: &Fill<'_, U, S>,
) -> Result<Vec<U>> {
    new_chunks(count, (BLOCK, WORK), operation, fill)
}

/// Lets `fill` write `out` in blocks, for cheap elements.
pub(super) fn fill_blocks<U: Send, S: Default>(out: &mut [U], fill: &Fill<'_, U, S>) {
    fill_chunks(out, BLOCK, WORK, fill);
}

/// As [`fill_blocks`], in chunks of `size` elements, at cost `work` per element, in [units](SHARE).
pub(super) fn fill_chunks<U: Send, S: Default>(
    out: &mut [U],
    size: usize,
    work: usize,
    fill: &Fill<'_, U, S>,
) {
    let chunks = out.len().div_ceil(size);
    let shares = (out.len().saturating_mul(work) / SHARE).min(chunks);
    if shares < 2 {
        return fill_piece(0, out, size, fill);
    }
    let cores = shares.min(rayon::current_num_threads());
    let piece = chunks.div_ceil(cores * PIECES) * size;
    let pieces = Mutex::new(out.chunks_mut(piece).enumerate());
    let fill_pieces = || {
        loop {
            let next = pieces.lock().next();
            let Some((number, part)) = next else { return };
            fill_piece(number * piece, part, size, fill);
        }
    };
    // The calling thread starts writing, and does all the work if the others are late. It waits until each of them has
    // started and finished. It asks for one thread more than there are other cores, because systems often schedule the
    // first woken thread on the caller's core.
    rayon::in_place_scope(|scope| {
        (0..cores).for_each(|_| scope.spawn(|_| fill_pieces()));
        fill_pieces();
    });
}

/// Lets `fill` write `part`, which starts at index `first`.
fn fill_piece<U, S: Default>(first: usize, part: &mut [U], size: usize, fill: &Fill<'_, U, S>) {
    let mut scratch = S::default();
    for (number, chunk) in part.chunks_mut(size).enumerate() {
        fill(first + number * size, chunk, &mut scratch);
    }
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};

    use super::*;

    #[test]
    fn every_element_is_written_once_and_was_zero() {
        for count in [0, 1, BLOCK - 1, BLOCK, BLOCK + 1, 200 * BLOCK + 7] {
            let made = new_blocks(count, "test", &|start, block: &mut [u32], (): &mut ()| {
                for (x, i) in block.iter_mut().zip(start..) {
                    *x += i as u32 + 1;
                }
            });
            assert!(made.unwrap().into_iter().eq(1..=count as u32));
        }
    }

    #[test]
    fn a_panic_of_one_chunk_drops_the_result() {
        let made = catch_unwind(AssertUnwindSafe(|| {
            new_blocks(200 * BLOCK, "test", &|start, block: &mut [u8], (): &mut ()| {
                assert!(start != 3 * BLOCK, "stop");
                block.fill(1);
            })
        }));
        assert!(made.is_err());
    }

    #[test]
    fn more_elements_than_memory_are_an_error() {
        let fill = |_: usize, _: &mut [f64], (): &mut ()| {};
        assert!(new_blocks(usize::MAX / 4, "test", &fill).is_err());
    }
}
