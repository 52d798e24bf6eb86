//! Convolutions by im2col: windows become columns of a matrix, which the `gemm` crate multiplies. Depthwise ones run
//! directly.

use std::borrow::Cow;

use rayon::prelude::*;

use super::cast::cast;
use super::copy::copy;
use super::unary::activate_assign;
use crate::activation::Activation;
use crate::cpu::arith::Arith;
use crate::cpu::{CpuStorage, unsupported, zeros};
use crate::dtype::DType;
use crate::element::Element;
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::window::{Convolution, Phase};

/// An operand: storage and layout.
type Operand<'a> = (&'a CpuStorage, &'a Layout);

/// The convolution of `x` `[batch, channels, h, w]` with filters (rank 4), an optional bias of rank 1, and an optional
/// activation.
pub(crate) fn conv(
    x: Operand<'_>,
    filter: Operand<'_>,
    (bias, activation): (Option<Operand<'_>>, Option<Activation>),
    shape: &Convolution,
) -> Result<CpuStorage> {
    let mut out = without_activation(x, filter, bias, shape)?;
    if let Some(activation) = activation {
        let layout = Layout::contiguous(out.len(), shape.operation)?;
        activate_assign(&mut out, &layout, activation)?;
    }
    Ok(out)
}

/// The 16-bit and 8-bit types are converted to `f32`, and the result is rounded to them once.
fn without_activation(
    x: Operand<'_>,
    filter: Operand<'_>,
    bias: Option<Operand<'_>>,
    shape: &Convolution,
) -> Result<CpuStorage> {
    let dtype = x.0.dtype();
    if dtype == DType::F64 {
        return convolution::<f64>(x, filter, bias, shape).map(f64::store);
    }
    let result = convolution::<f32>(x, filter, bias, shape).map(f32::store)?;
    if dtype == DType::F32 {
        return Ok(result);
    }
    cast(&result, &Layout::contiguous(result.len(), shape.operation)?, dtype)
}

/// A contiguous operand of type `T`, converted or copied if necessary.
fn tight<'a, T: Element>((storage, layout): Operand<'a>, operation: &'static str) -> Result<Cow<'a, [T]>> {
    if let (Some(elements), true) = (T::stored(storage), layout.is_contiguous()) {
        let start = layout.offset().min(elements.len());
        return Ok(Cow::Borrowed(&elements[start..(start + layout.elements()).min(elements.len())]));
    }
    let made =
        if storage.dtype() == T::DTYPE { copy(storage, layout)? } else { cast(storage, layout, T::DTYPE)? };
    T::unstore(made).map(Cow::Owned).ok_or_else(|| unsupported(operation, storage))
}

fn convolution<T: Element + Arith>(
    x: Operand<'_>,
    filter: Operand<'_>,
    bias: Option<Operand<'_>>,
    c: &Convolution,
) -> Result<Vec<T>> {
    let strides = Layout::contiguous(filter.1.shape().clone(), c.operation)?;
    let strides = c.filter_strides(strides.strides());
    let x = tight::<T>(x, c.operation)?;
    let filter = tight::<T>(filter, c.operation)?;
    let bias = bias.map(|bias| tight::<T>(bias, c.operation)).transpose()?;
    let mut out = zeros::<T>(c.outputs(), c.operation)?;
    if out.is_empty() {
        return Ok(out);
    }
    if c.is_depthwise() {
        let plane = c.h.out * c.w.out;
        out.par_chunks_mut(plane).enumerate().for_each(|(index, out)| {
            let channel = index % (c.groups * c.out_channels);
            let group = channel / c.out_channels;
            let input = c.h.input * c.w.input;
            let image = index / (c.groups * c.out_channels);
            let x = &x[(image * c.groups + group) * input..][..input];
            let filter = &filter[group * strides[0] + channel % c.out_channels * strides[1]..];
            depthwise(out, x, filter, &strides, bias.as_ref().map(|bias| bias[channel]), c);
        });
        return Ok(out);
    }
    let filters: Vec<Vec<Filters<'_, T>>> =
        (0..c.groups).map(|group| Filters::of_group(&filter, &strides, group, c)).collect();
    let (input, output) = (c.in_channels * c.h.input * c.w.input, c.out_channels * c.h.out * c.w.out);
    let image = |index: usize, out: &mut [T], scratch: &mut Scratch<T>, together: bool| {
        let group = index % c.groups;
        let bias = bias.as_ref().map(|bias| &bias[group * c.out_channels..][..c.out_channels]);
        let work = Work { x: &x[index * input..][..input], bias, c, together };
        filters[group].iter().for_each(|filters| work.phase(out, filters, scratch));
    };
    let images = c.batch * c.groups;
    if images >= rayon::current_num_threads() {
        let outputs = out.par_chunks_mut(output).enumerate();
        outputs.for_each_init(Scratch::default, |scratch, (index, out)| image(index, out, scratch, false));
    } else {
        let mut scratch = Scratch::default();
        out.chunks_mut(output).enumerate().for_each(|(index, out)| image(index, out, &mut scratch, true));
    }
    Ok(out)
}

/// Adds one input channel's terms to one output channel of one image.
fn depthwise<T: Element + Arith>(
    out: &mut [T],
    x: &[T],
    filter: &[T],
    strides: &[usize; 5],
    bias: Option<T>,
    c: &Convolution,
) {
    for (y, out) in out.chunks_mut(c.w.out).enumerate() {
        let h = c.h.phase(y % c.h.up);
        for i in 0..h.count {
            let at = (y / c.h.up) as i64 * c.h.step + h.start + i as i64 * h.shift;
            let Some(row) = inside(at, c.h.input) else { continue };
            let row = &x[row * c.w.input..][..c.w.input];
            let taps = (h.first + i * c.h.tap_step) * strides[3];
            for rest in 0..c.w.phases() {
                let w = c.w.phase(rest);
                for j in 0..w.count {
                    let tap = filter[taps + (w.first + j * c.w.tap_step) * strides[4]];
                    let first = w.start + j as i64 * w.shift;
                    let (begin, end) = reached(first, c.w.step, w.outputs, c.w.input);
                    let add = |(out, x): (&mut T, &T)| *out = (*out).add(tap.mul(*x));
                    if begin >= end {
                        continue;
                    }
                    let from = &row[(first + begin as i64 * c.w.step) as usize..];
                    if c.w.up == 1 && c.w.step == 1 {
                        out[begin..end].iter_mut().zip(from).for_each(add);
                    } else {
                        let to = out[rest + begin * c.w.up..].iter_mut().step_by(c.w.up).take(end - begin);
                        to.zip(from.iter().step_by(c.w.step as usize)).for_each(add);
                    }
                }
            }
        }
        if let Some(bias) = bias {
            out.iter_mut().for_each(|out| *out = (*out).add(bias));
        }
    }
}

/// Converts a position to an index, if it is within `0..length`.
fn inside(index: i64, length: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|&index| index < length)
}

/// The range of q in `0..outputs` for which `first + q · step` is within `0..length`.
fn reached(first: i64, step: i64, outputs: usize, length: usize) -> (usize, usize) {
    let begin = if first < 0 { (-first as u64).div_ceil(step as u64) as usize } else { 0 };
    let left = length as i64 - first;
    let end = if left > 0 { (left as u64).div_ceil(step as u64) as usize } else { 0 };
    (begin.min(outputs), end.min(outputs))
}

/// The filters of one group that contribute to the outputs of one phase, as a matrix [output channels, terms].
struct Filters<'a, T: Clone> {
    h: Phase,
    w: Phase,
    /// The remainders modulo `up` of the phase's outputs.
    rest: [usize; 2],
    terms: usize,
    matrix: Cow<'a, [T]>,
}

impl<'a, T: Element> Filters<'a, T> {
    /// The filters of every phase with outputs.
    fn of_group(filter: &'a [T], strides: &[usize; 5], group: usize, c: &Convolution) -> Vec<Filters<'a, T>> {
        let (h, w) = (c.h.phase(0), c.w.phase(0));
        let terms = c.in_channels * c.h.taps * c.w.taps;
        if !c.transposed {
            let matrix = Cow::Borrowed(&filter[group * strides[0]..][..c.out_channels * terms]);
            return vec![Filters { h, w, rest: [0, 0], terms, matrix }];
        }
        let mut all = Vec::new();
        for rest in (0..c.h.phases()).flat_map(|h| (0..c.w.phases()).map(move |w| [h, w])) {
            let (h, w) = (c.h.phase(rest[0]), c.w.phase(rest[1]));
            let terms = c.in_channels * h.count * w.count;
            let mut matrix = Vec::with_capacity(terms * c.out_channels);
            for (output, input) in
                (0..c.out_channels).flat_map(|o| (0..c.in_channels).map(move |channel| (o, channel)))
            {
                let channel = group * strides[0] + output * strides[1] + input * strides[2];
                for i in 0..h.count {
                    let row = channel + (h.first + i * c.h.tap_step) * strides[3];
                    let index = |j: usize| row + (w.first + j * c.w.tap_step) * strides[4];
                    matrix.extend((0..w.count).map(|j| filter[index(j)]));
                }
            }
            all.push(Filters { h, w, rest, terms, matrix: Cow::Owned(matrix) });
        }
        all
    }
}

/// Scratch memory for columns, and for outputs that are not contiguous.
struct Scratch<T> {
    columns: Vec<T>,
    result: Vec<T>,
}

impl<T> Default for Scratch<T> {
    fn default() -> Scratch<T> {
        Scratch { columns: Vec::new(), result: Vec::new() }
    }
}

/// Elements of the column matrix made at once.
const COLUMNS: usize = 1 << 18;

/// The channels of one group of one image.
struct Work<'a, T> {
    x: &'a [T],
    bias: Option<&'a [T]>,
    c: &'a Convolution,
    /// Whether all cores share this work.
    together: bool,
}

impl<T: Element + Arith> Work<'_, T> {
    /// Computes the outputs of one phase.
    fn phase(&self, out: &mut [T], filters: &Filters<'_, T>, scratch: &mut Scratch<T>) {
        let (c, plane) = (self.c, self.c.h.out * self.c.w.out);
        let side_by_side = c.h.up == 1 && c.w.up == 1;
        let outputs = filters.h.outputs * filters.w.outputs;
        let size = COLUMNS.checked_div(filters.terms).map_or(outputs, |size| size.max(64).min(outputs));
        for first in (0..outputs).step_by(size.max(1)) {
            let count = size.min(outputs - first);
            let (to, stride) = if side_by_side {
                (&mut out[first..], plane)
            } else {
                scratch.result.resize(c.out_channels * count, T::default());
                (&mut scratch.result[..], count)
            };
            if self.is_pointwise() {
                self.multiply(to, stride, filters, &self.x[first..], (plane, count));
            } else {
                scratch.columns.resize(filters.terms * count, T::default());
                self.columns(&mut scratch.columns, filters, first, count);
                self.multiply(to, stride, filters, &scratch.columns, (count, count));
            }
            if !side_by_side {
                self.scatter(out, &scratch.result, filters, first, count);
            }
        }
    }

    /// Whether each output depends on one input at the same position, so that the input is the column matrix.
    fn is_pointwise(&self) -> bool {
        [self.c.h, self.c.w].iter().all(|axis| {
            axis.taps == 1 && axis.up == 1 && axis.step == 1 && axis.first == 0 && axis.out == axis.input
        })
    }

    /// Fills the column matrix [terms, count] for `count` outputs of the phase from `first` on.
    fn columns(&self, columns: &mut [T], filters: &Filters<'_, T>, first: usize, count: usize) {
        if columns.is_empty() {
            return;
        }
        let fill = |(term, row): (usize, &mut [T])| self.row(row, filters, term, first);
        if self.together {
            columns.par_chunks_mut(count).enumerate().for_each(fill);
        } else {
            columns.chunks_mut(count).enumerate().for_each(fill);
        }
    }

    /// Fills the row of one filter element.
    fn row(&self, row: &mut [T], filters: &Filters<'_, T>, term: usize, first: usize) {
        let (c, (h, w)) = (self.c, (&filters.h, &filters.w));
        let (channel, tap) = (term / (h.count * w.count), term % (h.count * w.count));
        let x = &self.x[channel * c.h.input * c.w.input..][..c.h.input * c.w.input];
        let top = h.start + (tap / w.count) as i64 * h.shift;
        let left = w.start + (tap % w.count) as i64 * w.shift;
        let (begin, end) = reached(left, c.w.step, w.outputs, c.w.input);
        let mut done = 0;
        while done < row.len() {
            let (y, z) = ((first + done) / w.outputs, (first + done) % w.outputs);
            let length = (w.outputs - z).min(row.len() - done);
            let to = &mut row[done..done + length];
            done += length;
            let Some(line) = inside(y as i64 * c.h.step + top, c.h.input) else {
                to.fill(T::default());
                continue;
            };
            let (begin, end) = (begin.clamp(z, z + length) - z, end.clamp(z, z + length) - z);
            to[..begin].fill(T::default());
            to[end..].fill(T::default());
            if begin >= end {
                continue;
            }
            let from = &x[line * c.w.input..][..c.w.input];
            let from = &from[(left + (z + begin) as i64 * c.w.step) as usize..];
            if c.w.step == 1 {
                to[begin..end].copy_from_slice(&from[..end - begin]);
            } else {
                let from = from.iter().step_by(c.w.step as usize);
                to[begin..end].iter_mut().zip(from).for_each(|(to, from)| *to = *from);
            }
        }
    }

    /// Writes the product of the filters and `columns` [terms, count], plus the bias, to `out`. Rows of `columns` are
    /// `column_stride` apart, rows of `out` `stride`.
    fn multiply(
        &self,
        out: &mut [T],
        stride: usize,
        filters: &Filters<'_, T>,
        columns: &[T],
        (column_stride, count): (usize, usize),
    ) {
        let (m, n, k) = (self.c.out_channels, count, filters.terms);
        let biases = (0..m).map(|channel| self.bias.map_or(T::default(), |bias| bias[channel]));
        if self.bias.is_some() || k == 0 {
            out.chunks_mut(stride).zip(biases).for_each(|(row, bias)| row[..n].fill(bias));
        }
        if k == 0 {
            return;
        }
        let (alpha, read) = if self.bias.is_some() { (T::ONE, true) } else { (T::default(), false) };
        let all = if self.together { gemm::Parallelism::Rayon(0) } else { gemm::Parallelism::None };
        assert!(n <= stride && out.len() >= (m - 1) * stride + n && filters.matrix.len() >= m * k);
        assert!(columns.len() >= (k - 1) * column_stride + n);
        // SAFETY: S12: the assertions above show that every element of the three matrices lies inside its slice; out is
        // borrowed mutably, so that it does not overlap the others, and is initialised where gemm reads it (its memory
        // was zeroed).
        unsafe {
            gemm::gemm(
                m,
                n,
                k,
                out.as_mut_ptr(),
                1,
                stride as isize,
                read,
                filters.matrix.as_ptr(),
                1,
                k as isize,
                columns.as_ptr(),
                1,
                column_stride as isize,
                alpha,
                T::ONE,
                false,
                false,
                false,
                all,
            );
        }
    }

    /// Copies results [output channels, count], for the phase's outputs from `first` on, to their positions.
    fn scatter(&self, out: &mut [T], results: &[T], filters: &Filters<'_, T>, first: usize, count: usize) {
        let (c, w) = (self.c, &filters.w);
        for (out, results) in out.chunks_mut(c.h.out * c.w.out).zip(results.chunks(count)) {
            for (index, result) in results.iter().enumerate() {
                let (y, z) = ((first + index) / w.outputs, (first + index) % w.outputs);
                out[(y * c.h.up + filters.rest[0]) * c.w.out + z * c.w.up + filters.rest[1]] = *result;
            }
        }
    }
}
