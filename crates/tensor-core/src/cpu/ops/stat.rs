//! Statistics over axes, computed in `f64` in two passes.

use std::ops::Range;

use super::copy;
use crate::axis::behind_others;
use crate::cpu::chunks::new_chunks;
use crate::cpu::dispatch::dispatch_float;
use crate::cpu::number::Number;
use crate::cpu::operands::Source;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::plan::stat::StatOp;
use crate::scalar::Scalar;

/// The cost of an element of a row, in units of [`crate::cpu::chunks`].
const WORK: usize = 16;

/// Elements that are added sequentially, in several lanes.
const LEAF: usize = 1024;
/// Lanes per leaf.
const LANES: usize = 8;
/// Sums of more elements than this may be split over two cores.
const PARALLEL: usize = 64 * 1024;
/// Elements that a core processes before it takes the next results.
const CHUNK: usize = 16 * 1024;

/// The statistic `op` over `axes`, rounded to the dtype once.
pub(crate) fn stat(storage: &CpuStorage, layout: &Layout, op: StatOp, axes: &[usize]) -> Result<CpuStorage> {
    let (kept, reduced) = layout.split(axes);
    let length = reduced.elements();
    let stride = |layout: &Layout| layout.collapsed().strides().last().copied().unwrap_or(0);
    let (outer, inner) = (stride(&kept), stride(&reduced));
    if kept.elements() > 1 && length > 1 && outer != 0 && outer < inner {
        // Makes each result's elements contiguous first. Gathering columns would fetch a cache line per element in each
        // pass.
        let grouped = layout.permute(&behind_others(layout.rank(), axes), op.name())?;
        let tight = Layout::contiguous(grouped.shape().clone(), op.name())?;
        let trailing: Vec<usize> = (layout.rank() - axes.len()..layout.rank()).collect();
        return stat(&copy::copy(storage, &grouped)?, &tight, op, &trailing);
    }
    dispatch_float!(storage, elements: T => {
        let chunks = ((CHUNK / length.max(1)).max(1), length.saturating_mul(WORK));
        new_chunks(kept.elements(), chunks, op.name(), &|start, out: &mut [T], (): &mut ()| {
            for (i, out) in out.iter_mut().enumerate() {
                let row = Row { source: Source::new(from(elements, kept.offset_of(start + i)), &reduced), length };
                *out = <T as crate::element::Element>::from_scalar(Scalar::Float(row.stat(op)));
            }
        })
        .map(T::store)
    }, else Err(unsupported(op.name(), storage)))
}

/// The elements from `index` on. An empty row may begin past the end, and gives none.
fn from<T>(elements: &[T], index: usize) -> &[T] {
    elements.get(index..).unwrap_or_default()
}

/// The elements of one result.
struct Row<'a, T> {
    source: Source<'a, T>,
    length: usize,
}

impl<T: Number<Compute: Into<f64>>> Row<'_, T> {
    fn stat(&self, op: StatOp) -> f64 {
        match op {
            StatOp::Var => self.variance(),
            StatOp::Std => self.variance().sqrt(),
            StatOp::Norm => self.norm(),
            StatOp::LogSumExp => self.log_sum_exp(),
        }
    }

    fn variance(&self) -> f64 {
        if self.length < 2 {
            return f64::NAN;
        }
        let count = self.length as f64;
        let [sum] = self.total([0.0], &|x| [x], &add);
        let mean = sum / count;
        let [square, rest] = self.total([0.0; 2], &|x| [(x - mean) * (x - mean), x - mean], &add);
        // The mean is off by rest/count, which adds count times its square. Infinities and NaN are kept.
        let square = if square.is_finite() { (square - rest * (rest / count)).max(0.0) } else { square };
        square / (count - 1.0)
    }

    fn norm(&self) -> f64 {
        let [greatest] = self.total([0.0], &|x| [x.abs()], &greatest);
        // Squares of f64 may overflow or underflow. Scaling by powers of two is exact.
        let (up, down) = match greatest {
            x if x > 2f64.powi(400) => (2f64.powi(-600), 2f64.powi(600)),
            x if x < 2f64.powi(-400) => (2f64.powi(600), 2f64.powi(-600)),
            _ => (1.0, 1.0),
        };
        let [sum] = self.total([0.0], &|x| [(x * up) * (x * up)], &add);
        sum.sqrt() * down
    }

    fn log_sum_exp(&self) -> f64 {
        let [greatest] = self.total([f64::NEG_INFINITY], &|x| [x], &greatest);
        if !greatest.is_finite() {
            return greatest;
        }
        let [sum] = self.total([0.0], &|x| [(x - greatest).exp()], &add);
        greatest + sum.ln()
    }

    /// The pairwise combination by `join` of `map` of each element.
    fn total<const N: usize>(
        &self,
        none: [f64; N],
        map: &(impl Fn(f64) -> [f64; N] + Sync),
        join: &(impl Fn([f64; N], [f64; N]) -> [f64; N] + Sync),
    ) -> [f64; N] {
        let leaf = |range: Range<usize>| {
            let mut gathered = Vec::new();
            let mut lanes = [none; LANES];
            let block = self.source.block(range.start, range.len(), &mut gathered);
            for chunk in block.chunks(LANES) {
                for (lane, x) in lanes.iter_mut().zip(chunk) {
                    *lane = join(*lane, map(x.to_compute().into()));
                }
            }
            lanes.into_iter().fold(none, join)
        };
        pairwise(0..self.length, &leaf, join)
    }
}

fn add<const N: usize>(a: [f64; N], b: [f64; N]) -> [f64; N] {
    std::array::from_fn(|i| a[i] + b[i])
}

/// The maximum; NaN propagates.
fn greatest([a]: [f64; 1], [b]: [f64; 1]) -> [f64; 1] {
    [if b > a || b.is_nan() { b } else { a }]
}

fn pairwise<S: Send>(
    range: Range<usize>,
    leaf: &(dyn Fn(Range<usize>) -> S + Sync),
    join: &(dyn Fn(S, S) -> S + Sync),
) -> S {
    let leaves = range.len().div_ceil(LEAF);
    if leaves <= 1 {
        return leaf(range);
    }
    let middle = range.start + leaves.next_power_of_two() / 2 * LEAF;
    let (left, right) = (range.start..middle, middle..range.end);
    let (left, right) = if range.len() > PARALLEL {
        rayon::join(|| pairwise(left, leaf, join), || pairwise(right, leaf, join))
    } else {
        (pairwise(left, leaf, join), pairwise(right, leaf, join))
    };
    join(left, right)
}
