//! Rotary position embeddings.

use crate::cpu::arith::Arith;
use crate::cpu::chunks::new_chunks;
use crate::cpu::dispatch::dispatch_float;
use crate::cpu::number::Number;
use crate::cpu::operands::Source;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::plan::rope::Rope;

/// Rotates the pairs of `rope`: (x, y) becomes (x cos − y sin, x sin + y cos).
pub(crate) fn rope(x: &CpuStorage, cos: &CpuStorage, sin: &CpuStorage, rope: &Rope) -> Result<CpuStorage> {
    dispatch_float!(x, elements: T => match (T::stored(cos), T::stored(sin)) {
        (Some(cos), Some(sin)) => turned::<T>(elements, cos, sin, rope).map(T::store),
        _ => Err(unsupported(rope.name, cos)),
    }, else Err(unsupported(rope.name, x)))
}

/// The same for two tensors by the same angles.
pub(crate) fn rope_pair(
    [x, y]: [&CpuStorage; 2],
    cos: &CpuStorage,
    sin: &CpuStorage,
    [of_x, of_y]: [&Rope; 2],
) -> Result<(CpuStorage, CpuStorage)> {
    Ok((rope(x, cos, sin, of_x)?, rope(y, cos, sin, of_y)?))
}

/// Numbers that a core rotates at once, approximately.
const CHUNK: usize = 4096;
/// The cost of a number, in units of [`crate::cpu::chunks`].
const WORK: usize = 8;

/// The gathered elements and compute values of x, of the cosines and of the sines; and the result.
type Scratch<T, C> = ([(Vec<T>, Vec<C>); 3], Vec<C>);

fn turned<T: Number>(x: &[T], cos: &[T], sin: &[T], rope: &Rope) -> Result<Vec<T>> {
    let dims = rope.x.dims();
    let (d, pairs) = (dims[3], dims[3] / 2);
    let count = rope.x.elements();
    if count == 0 {
        return Ok(Vec::new());
    }
    // All three in the order of the result. The angles are repeated for each head.
    let ordered = |layout: Layout| if rope.time_first { layout.transpose(1, 2) } else { layout };
    let angles = |layout: &Layout| {
        let each = [dims[0], dims[1], dims[2], pairs].into();
        layout.unsqueeze(1).expand(&each, rope.name).map(ordered)
    };
    let x = Source::new(x, &ordered(rope.x.clone()));
    let (cos, sin) = (Source::new(cos, &angles(&rope.cos)?), Source::new(sin, &angles(&rope.sin)?));
    let rows = (CHUNK / d).max(1);
    new_chunks(count, (rows * d, WORK), rope.name, &|start, out, scratch: &mut Scratch<T, T::Compute>| {
        let ([a, b, c], result) = scratch;
        let length = out.len();
        let x = T::widen(x.block(start, length, &mut a.0), &mut a.1);
        let cos = T::widen(cos.block(start / 2, length / 2, &mut b.0), &mut b.1);
        let sin = T::widen(sin.block(start / 2, length / 2, &mut c.0), &mut c.1);
        T::narrow(out, result, |y| {
            let angles = cos.chunks_exact(pairs).zip(sin.chunks_exact(pairs));
            for ((x, y), (cos, sin)) in x.chunks_exact(d).zip(y.chunks_exact_mut(d)).zip(angles) {
                if rope.interleaved { turn_neighbours(x, cos, sin, y) } else { turn_halves(x, cos, sin, y) }
            }
        });
    })
}

fn turn_halves<C: Arith>(x: &[C], cos: &[C], sin: &[C], out: &mut [C]) {
    let (first, second) = x.split_at(cos.len());
    let (left, right) = out.split_at_mut(cos.len());
    for (i, (left, right)) in left.iter_mut().zip(right).enumerate() {
        (*left, *right) = turn(first[i], second[i], cos[i], sin[i]);
    }
}

fn turn_neighbours<C: Arith>(x: &[C], cos: &[C], sin: &[C], out: &mut [C]) {
    for (i, (x, out)) in x.chunks_exact(2).zip(out.chunks_exact_mut(2)).enumerate() {
        (out[0], out[1]) = turn(x[0], x[1], cos[i], sin[i]);
    }
}

/// Rounds every product and every sum once.
fn turn<C: Arith>(x: C, y: C, cos: C, sin: C) -> (C, C) {
    (x.mul(cos).sub(y.mul(sin)), x.mul(sin).add(y.mul(cos)))
}
