//! Pooling and upsampling of planes.

use crate::cpu::arith::Arith;
use crate::cpu::chunks::{BLOCK, new_chunks};
use crate::cpu::dispatch::dispatch_float;
use crate::cpu::lanes::lowest;
use crate::cpu::number::Number;
use crate::cpu::real::Real;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::shape::Shape;
use crate::window::{PoolAxis, PoolOp, Pooling};

/// Pools or upsamples `x` `[batch, channels, h, w]`, which is read in place.
pub(crate) fn pool(x: &CpuStorage, layout: &Layout, shape: &Pooling) -> Result<CpuStorage> {
    dispatch_float!(x, elements: T => planes::<T>(elements, layout, shape).map(T::store), else Err(unsupported(shape.operation, x)))
}

/// Conversion of integers to a float compute type.
trait Quotient: Real {
    fn whole(number: usize) -> Self;
}

impl Quotient for f32 {
    fn whole(number: usize) -> f32 {
        number as f32
    }
}

impl Quotient for f64 {
    fn whole(number: usize) -> f64 {
        number as f64
    }
}

fn planes<T: Number<Compute: Quotient>>(x: &[T], layout: &Layout, shape: &Pooling) -> Result<Vec<T>> {
    let (h, w) = (shape.h, shape.w);
    let [n, channels, image, channel, row, column] = {
        let (dims, strides) = (layout.dims(), layout.strides());
        [dims[0], dims[1], strides[0], strides[1], strides[2], strides[3]]
    };
    let count = Shape::from([n, channels, h.out, w.out]).elements(shape.operation)?;
    if count == 0 {
        return Ok(Vec::new());
    }
    let work = match shape.op {
        PoolOp::Max | PoolOp::Mean(_) => h.window.saturating_mul(w.window),
        PoolOp::Adaptive => (h.input / h.out + 1).saturating_mul(w.input / w.out + 1),
        PoolOp::Nearest | PoolOp::Bilinear(_) => 4,
    };
    let together = (BLOCK / w.out).max(1) * w.out;
    let padded = padded_line(&w);
    new_chunks(count, (together, work), shape.operation, &|start, out, scratch: &mut Scratch<T>| {
        for (line, out) in (start / w.out..).zip(out.chunks_exact_mut(w.out)) {
            let (plane, y) = (line / h.out, line % h.out);
            let first = layout.offset() + plane / channels * image + plane % channels * channel;
            let at = |i: usize, j: usize| x[first + i * row + j * column];
            let wide = |i: usize, j: usize| at(i, j).to_compute();
            match shape.op {
                PoolOp::Max => {
                    let rows = Window::of(&h, y, false);
                    match padded {
                        Some(length) => {
                            let lines = (rows.begin..rows.end).map(|i| &x[first + i * row..]);
                            greatest(lines, column, (&w, length), out, scratch);
                        }
                        None => {
                            for (z, out) in out.iter_mut().enumerate() {
                                *out = T::from_compute(maximum(wide, &rows, &Window::of(&w, z, false)));
                            }
                        }
                    }
                }
                PoolOp::Mean(padding) => {
                    let rows = Window::of(&h, y, padding);
                    for (z, out) in out.iter_mut().enumerate() {
                        *out = T::from_compute(mean(wide, &rows, &Window::of(&w, z, padding)));
                    }
                }
                PoolOp::Adaptive => {
                    let rows = Window::bin(&h, y);
                    for (z, out) in out.iter_mut().enumerate() {
                        *out = T::from_compute(mean(wide, &rows, &Window::bin(&w, z)));
                    }
                }
                PoolOp::Nearest => {
                    let i = y * h.input / h.out;
                    out.iter_mut().enumerate().for_each(|(z, out)| *out = at(i, z * w.input / w.out));
                }
                PoolOp::Bilinear(align) => {
                    let rows = Between::<T::Compute>::of(&h, y, align);
                    for (z, out) in out.iter_mut().enumerate() {
                        let columns = Between::<T::Compute>::of(&w, z, align);
                        let line = |i: usize| columns.mean(wide(i, columns.a), wide(i, columns.b));
                        *out = T::from_compute(rows.mean(line(rows.a), line(rows.b)));
                    }
                }
            }
        }
    })
}

/// Elements of a row, their compute values, the maxima over several rows, every stride-th of these, and results.
type Scratch<T> = (Vec<T>, [Vec<<T as Number>::Compute>; 4]);

/// The length of a line of windows, padding included. `None` if windows or the gaps between them are so wide that
/// holding the line does not pay.
fn padded_line(axis: &PoolAxis) -> Option<usize> {
    let length = (axis.out - 1).checked_mul(axis.stride)?.checked_add(axis.window)?;
    (length <= axis.out.saturating_add(64).saturating_mul(64)).then_some(length)
}

/// The maximum of a window; −∞ if it is empty.
fn maximum<C: Quotient>(at: impl Fn(usize, usize) -> C, rows: &Window, columns: &Window) -> C {
    let row = |i: usize| (columns.begin..columns.end).map(|j| at(i, j)).fold(lowest(), |a: C, b| a.max(b));
    (rows.begin..rows.end).map(row).fold(lowest(), |a: C, b| a.max(b))
}

/// The maxima of a line of windows, which covers `length` positions. First takes the maxima over the rows, whose
/// elements have stride `step`, position by position, and then along the windows. The inner loops run over adjacent
/// positions, which are many; windows are small.
fn greatest<'a, T: Number<Compute: Quotient>>(
    rows: impl Iterator<Item = &'a [T]>,
    step: usize,
    (axis, length): (&PoolAxis, usize),
    out: &mut [T],
    (gathered, [wide, highest, column, result]): &mut Scratch<T>,
) {
    // Padding is −∞, the identity. The line ends with the last window.
    highest.clear();
    highest.resize(length, lowest());
    let inside = axis.padding.min(length)..(axis.padding + axis.input).min(length);
    for row in rows {
        let row = match step {
            1 => &row[..axis.input],
            _ => {
                gathered.clear();
                gathered.extend((0..axis.input).map(|i| row[i * step]));
                &gathered[..]
            }
        };
        let row = T::widen(row, wide);
        highest[inside.clone()].iter_mut().zip(row).for_each(|(a, b)| *a = a.max(*b));
    }
    T::narrow(out, result, |out| {
        out.fill(lowest());
        // Windows begin at multiples of the stride. For each offset in a window, the elements at this offset are
        // gathered.
        for first in 0..axis.stride.min(axis.window) {
            column.clear();
            column.extend(highest[first..].iter().step_by(axis.stride));
            for k in 0..(axis.window - first).div_ceil(axis.stride) {
                out.iter_mut().zip(&column[k..]).for_each(|(a, b)| *a = a.max(*b));
            }
        }
    });
}

/// The inputs `begin..end`, and the divisor of a mean.
struct Window {
    begin: usize,
    end: usize,
    size: usize,
}

impl Window {
    /// The window of an output; `padding` says whether padding counts.
    fn of(axis: &PoolAxis, y: usize, padding: bool) -> Window {
        // Positions are shifted by the padding, so that none is negative.
        let start = y * axis.stride;
        let stop = (start + axis.window).min(axis.input + 2 * axis.padding);
        let begin = start.saturating_sub(axis.padding);
        let end = stop.saturating_sub(axis.padding).min(axis.input);
        Window { begin, end, size: if padding { stop - start } else { end - begin } }
    }

    /// A bin of PyTorch's adaptive pooling.
    fn bin(axis: &PoolAxis, y: usize) -> Window {
        let (begin, end) = (y * axis.input / axis.out, ((y + 1) * axis.input).div_ceil(axis.out));
        Window { begin, end, size: end - begin }
    }
}

/// Elements that are added sequentially; these sums are then added.
const SPAN: usize = 256;

/// The sum of a window, row by row, divided by its size.
fn mean<C: Quotient>(at: impl Fn(usize, usize) -> C, rows: &Window, columns: &Window) -> C {
    let part = |i: usize, begin: usize| {
        let end = columns.end.min(begin + SPAN);
        (begin..end).map(|j| at(i, j)).fold(C::default(), |sum, x| sum.add(x))
    };
    let row = |i: usize| {
        let parts = (columns.begin..columns.end).step_by(SPAN).map(|begin| part(i, begin));
        parts.fold(C::default(), |sum, part| sum.add(part))
    };
    let sum = (rows.begin..rows.end).map(row).fold(C::default(), |sum, row| sum.add(row));
    sum.div(C::whole(rows.size * columns.size))
}

/// Two neighbouring inputs and their weights.
struct Between<C> {
    a: usize,
    b: usize,
    near: C,
    far: C,
}

impl<C: Quotient> Between<C> {
    /// The neighbours of an output's position: (y + ½) · in / out − ½, or with aligned corners y · (in − 1) / (out −
    /// 1).
    fn of(axis: &PoolAxis, y: usize, align_corners: bool) -> Between<C> {
        let (position, parts) = match align_corners {
            true if axis.out > 1 => (y * (axis.input - 1), axis.out - 1),
            true => (0, 1),
            false => (((2 * y + 1) * axis.input).saturating_sub(axis.out), 2 * axis.out),
        };
        let (a, rest) = (position / parts, position % parts);
        let weight = |share: usize| C::whole(share).div(C::whole(parts));
        Between { a, b: (a + 1).min(axis.input - 1), near: weight(parts - rest), far: weight(rest) }
    }

    fn mean(&self, a: C, b: C) -> C {
        self.near.mul(a).add(self.far.mul(b))
    }
}
