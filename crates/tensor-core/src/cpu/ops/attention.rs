//! Scaled dot product attention, in tiles: matrix products for scores and outputs, softmax in between.

use rayon::prelude::*;

use super::cast::cast;
use super::matmul::{Factor, Matrix, multiply, to_f32};
use crate::cpu::real::Real;
use crate::cpu::{CpuStorage, unsupported, zeros};
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::plan::attention::{Attention, NAME};
use crate::shape::Shape;

/// softmax(q kᵀ · scale + mask) v of each head; 0 for a query that attends to no key.
pub(crate) fn attention(
    q: &CpuStorage,
    k: &CpuStorage,
    v: &CpuStorage,
    mask: Option<&CpuStorage>,
    attention: &Attention,
) -> Result<CpuStorage> {
    match (q, k, v) {
        (CpuStorage::F32(x), CpuStorage::F32(y), CpuStorage::F32(z)) => {
            heads(x, y, z, &Mask::new(mask, attention)?, attention).map(f32::store)
        }
        (CpuStorage::F64(x), CpuStorage::F64(y), CpuStorage::F64(z)) => {
            heads(x, y, z, &Mask::new(mask, attention)?, attention).map(f64::store)
        }
        _ if q.dtype().is_float() && q.dtype() == k.dtype() && q.dtype() == v.dtype() => {
            let mut wide = attention.clone();
            let converted = |storage: &CpuStorage, layout: &mut Layout| -> Result<CpuStorage> {
                let (storage, moved) = to_f32(storage, layout)?;
                *layout = moved;
                Ok(storage)
            };
            let (x, y) = (converted(q, &mut wide.q)?, converted(k, &mut wide.k)?);
            let z = converted(v, &mut wide.v)?;
            let result = match (mask, &mut wide.mask) {
                (Some(mask), Some(layout)) if mask.dtype() == q.dtype() => {
                    let mask = converted(mask, layout)?;
                    self::attention(&x, &y, &z, Some(&mask), &wide)?
                }
                _ => self::attention(&x, &y, &z, mask, &wide)?,
            };
            cast(&result, &Layout::contiguous(result.len(), NAME)?, q.dtype())
        }
        _ => Err(unsupported(NAME, q)),
    }
}

/// The mask's effect on the scores.
enum Mask<'a, C> {
    None,
    /// Selects the keys where it is not 0.
    Truth(&'a [u8], &'a Layout),
    Added(&'a [C], &'a Layout),
}

impl<'a, C: Element> Mask<'a, C> {
    fn new(mask: Option<&'a CpuStorage>, attention: &'a Attention) -> Result<Mask<'a, C>> {
        match (mask, &attention.mask) {
            (Some(CpuStorage::U8(mask)), Some(layout)) => Ok(Mask::Truth(mask, layout)),
            (Some(mask), Some(layout)) => match C::stored(mask) {
                Some(elements) => Ok(Mask::Added(elements, layout)),
                None => Err(unsupported(NAME, mask)),
            },
            _ => Ok(Mask::None),
        }
    }
}

/// Queries that a core processes at once.
const ROWS: usize = 32;
/// Keys whose scores are held at once.
const KEYS: usize = 128;

/// The scores of a tile, later its weights; its products with v; and for each row the maximum score and the sum of
/// weights so far.
type Scratch<C> = (Vec<C>, Vec<C>, Vec<(C, C)>);

fn heads<C: Factor + Element + Real>(
    q: &[C],
    k: &[C],
    v: &[C],
    mask: &Mask<'_, C>,
    attention: &Attention,
) -> Result<Vec<C>> {
    let [_, heads, queries, columns] = attention.result();
    let mut out = zeros::<C>(Shape::from(attention.result()).elements(NAME)?, NAME)?;
    if out.is_empty() {
        return Ok(out);
    }
    out.par_chunks_mut(queries * columns).enumerate().for_each(|(head, out)| {
        let head = Head { q, k, v, mask, attention, batch: head / heads, head: head % heads };
        let tiles = out.par_chunks_mut(ROWS * columns).enumerate();
        tiles.for_each_init(Scratch::default, |scratch, (tile, out)| head.tile(tile * ROWS, out, scratch));
    });
    Ok(out)
}

/// One head of one batch entry.
struct Head<'a, C> {
    q: &'a [C],
    k: &'a [C],
    v: &'a [C],
    mask: &'a Mask<'a, C>,
    attention: &'a Attention,
    batch: usize,
    head: usize,
}

impl<C: Factor + Element + Real> Head<'_, C> {
    /// Computes the rows from `first` on into `out`, which is zeroed.
    fn tile(&self, first: usize, out: &mut [C], (scores, part, rows): &mut Scratch<C>) {
        let Attention { q, k, v, causal, .. } = self.attention;
        let (keys, d, columns) = (k.dims()[2], k.dims()[3], v.dims()[3]);
        let count = out.len() / columns;
        let kv = self.head / self.attention.group();
        let end = if *causal { keys.min(first + count) } else { keys };
        rows.clear();
        rows.resize(count, (C::MINUS_INFINITY, C::ZERO));
        for start in (0..end).step_by(KEYS) {
            let some = KEYS.min(end - start);
            scores.clear();
            scores.resize(count * some, C::ZERO);
            if d > 0 {
                let x = matrix(q, count, d, false);
                let y = matrix(k, some, d, true);
                let (x_at, y_at) =
                    (position(q, [self.batch, self.head, first, 0]), position(k, [self.batch, kv, start, 0]));
                multiply(scores, &self.q[x_at..], x, &self.k[y_at..], y, gemm::Parallelism::None);
            }
            for (row, scores) in scores.chunks_exact_mut(some).enumerate() {
                self.finish_scores(first + row, start, scores);
                let scaling = weigh(scores, &mut rows[row]);
                let out = &mut out[row * columns..][..columns];
                if scaling != <C as Factor>::ONE {
                    out.iter_mut().for_each(|y| *y = y.mul(scaling));
                }
            }
            part.clear();
            part.resize(out.len(), C::ZERO);
            let weights = Matrix { rows: count, columns: some, row_stride: some, column_stride: 1 };
            let z = &self.v[position(v, [self.batch, kv, start, 0])..];
            multiply(part, scores, weights, z, matrix(v, some, columns, false), gemm::Parallelism::None);
            out.iter_mut().zip(part.iter()).for_each(|(y, x)| *y = y.add(*x));
        }
        for (out, (_, total)) in out.chunks_exact_mut(columns).zip(rows) {
            // No keys: the result is 0, not 0 / 0.
            out.iter_mut().for_each(|y| *y = if *total == C::ZERO { C::ZERO } else { y.div(*total) });
        }
    }

    /// Scales and masks one row of products, for the keys from `start` on.
    fn finish_scores(&self, row: usize, start: usize, scores: &mut [C]) {
        let scale = C::from_f64(self.attention.scale);
        let at =
            |layout: &Layout| (position(layout, [self.batch, self.head, row, start]), layout.strides()[3]);
        scores.iter_mut().for_each(|score| *score = score.mul(scale));
        match self.mask {
            Mask::None => {}
            Mask::Truth(mask, layout) => {
                let (first, step) = at(layout);
                let hidden = scores.iter_mut().enumerate().filter(|(key, _)| mask[first + key * step] == 0);
                hidden.for_each(|(_, score)| *score = C::MINUS_INFINITY);
            }
            Mask::Added(mask, layout) => {
                let (first, step) = at(layout);
                let each = scores.iter_mut().enumerate();
                each.for_each(|(key, score)| *score = score.add(mask[first + key * step]));
            }
        }
        if self.attention.causal {
            let seen = (row + 1).saturating_sub(start).min(scores.len());
            scores[seen..].fill(C::MINUS_INFINITY);
        }
    }
}

/// Replaces scores by weights relative to the maximum score so far. Returns the factor for earlier weights.
fn weigh<C: Factor + Real>(scores: &mut [C], (greatest, total): &mut (C, C)) -> C {
    let best = scores.iter().fold(*greatest, |best, score| if *score > best { *score } else { best });
    let shift = if best == C::MINUS_INFINITY { C::ZERO } else { best };
    let scaling = greatest.sub(shift).exp();
    scores.iter_mut().for_each(|score| *score = score.sub(shift).exp());
    let sum = scores.iter().fold(C::ZERO, |sum, weight| sum.add(*weight));
    (*greatest, *total) = (best, total.mul(scaling).add(sum));
    scaling
}

/// Some rows of the matrix in the last two dimensions, optionally transposed.
fn matrix(layout: &Layout, rows: usize, columns: usize, transposed: bool) -> Matrix {
    // The stride of a dimension of length 1 is not used, so that any value is right.
    let stride = |axis: usize| if layout.dims()[axis] == 1 { 1 } else { layout.strides()[axis] };
    let (down, across) = (stride(2), stride(3));
    if transposed {
        Matrix { rows: columns, columns: rows, row_stride: across, column_stride: down }
    } else {
        Matrix { rows, columns, row_stride: down, column_stride: across }
    }
}

/// The position of an element. The layout is not empty.
fn position(layout: &Layout, index: [usize; 4]) -> usize {
    layout.offset() + index.iter().zip(layout.strides()).map(|(i, stride)| i * stride).sum::<usize>()
}
