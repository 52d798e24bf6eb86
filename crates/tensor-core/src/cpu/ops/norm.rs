//! Normalisation of rows and of channels.

use crate::cpu::arith::Arith;
use crate::cpu::chunks::new_chunks;
use crate::cpu::dispatch::dispatch_float;
use crate::cpu::lanes::total;
use crate::cpu::number::Number;
use crate::cpu::operands::Source;
use crate::cpu::real::Real;
use crate::cpu::{CpuStorage, unsupported};
use crate::element::sealed::Stored;
use crate::error::Result;
use crate::layout::Layout;
use crate::ops::BinaryOp;
use crate::plan::norm::{Affine, Channels, Parameters, RowNorm};
use crate::scalar::Scalar;

/// Elements that a core processes at once.
const CHUNK: usize = 4096;
/// The cost of an element, in units of [`crate::cpu::chunks`].
const WORK: usize = 8;

/// A normalisation of rows.
pub(crate) fn row_norm(
    storage: &CpuStorage,
    layout: &Layout,
    norm: RowNorm,
    affine: Affine<'_, CpuStorage>,
) -> Result<CpuStorage> {
    let name = norm.kind.name();
    dispatch_float!(storage, elements: T => {
        let [weight, bias] = affine;
        let (weight, bias) = (wide::<T>(weight, name)?, wide::<T>(bias, name)?);
        let source = Source::new(elements, layout);
        rows(&source, layout.elements(), norm, (weight.as_deref(), bias.as_deref())).map(T::store)
    }, else Err(unsupported(name, storage)))
}

/// Adds `other` to the elements of `layout`, and normalises the rows of the sums by their mean squares.
pub(crate) fn add_rms_norm(
    storage: &mut CpuStorage,
    layout: &Layout,
    (other, from): (&CpuStorage, &Layout),
    norm: RowNorm,
    affine: Affine<'_, CpuStorage>,
) -> Result<CpuStorage> {
    super::binary::binary_assign(storage, layout, other, from, BinaryOp::Add)?;
    row_norm(storage, layout, norm, affine)
}

/// Optional weight and bias of all channels.
type Wide<'a, C> = (Option<&'a [C]>, Option<&'a [C]>);

fn rows<T: Number<Compute: Real + crate::element::Element>>(
    source: &Source<'_, T>,
    elements: usize,
    norm: RowNorm,
    (weight, bias): Wide<'_, T::Compute>,
) -> Result<Vec<T>> {
    if elements == 0 {
        return Ok(Vec::new());
    }
    let length = norm.length;
    let count = T::Compute::from_count(length);
    let eps = real::<T::Compute>(norm.eps);
    let (per_element, channels) = (norm.inner == 1 && norm.groups == 1, length / norm.inner);
    let size = length * (CHUNK / length).max(1);
    new_chunks(
        elements,
        (size, WORK),
        norm.kind.name(),
        &|start, out, (gathered, wide, result): &mut Scratch<T>| {
            let x = T::widen(source.block(start, out.len(), gathered), wide);
            T::narrow(out, result, |y| {
                for (i, (x, y)) in x.chunks_exact(length).zip(y.chunks_exact_mut(length)).enumerate() {
                    let factor = centre(x, y, norm.kind.is_centred(), (count, eps));
                    if per_element {
                        scale(y, factor, (weight, bias));
                        continue;
                    }
                    let first = (start / length + i) % norm.groups * channels;
                    for (channel, y) in (first..first + channels).zip(y.chunks_exact_mut(norm.inner)) {
                        let w = weight.map_or(T::Compute::ONE, |of| of[channel]);
                        y.iter_mut().for_each(|y| *y = y.mul(factor).mul(w));
                        if let Some(bias) = bias {
                            y.iter_mut().for_each(|y| *y = y.add(bias[channel]));
                        }
                    }
                }
            });
        },
    )
}

/// Writes x − mean, or x, to `y`, and returns 1/√(mean square of `y` + eps).
fn centre<C: Real>(x: &[C], y: &mut [C], centred: bool, (count, eps): (C, C)) -> C {
    if centred {
        let mean = total(x, |x| x).div(count);
        y.iter_mut().zip(x).for_each(|(y, x)| *y = x.sub(mean));
    } else {
        y.copy_from_slice(x);
    }
    let square = total(y, |d| d.mul(d)).div(count);
    C::ONE.div(square.add(eps).sqrt())
}

/// Replaces y by y · factor · weight + bias.
fn scale<C: Real>(y: &mut [C], factor: C, (weight, bias): Wide<'_, C>) {
    match (weight, bias) {
        (None, None) => y.iter_mut().for_each(|y| *y = y.mul(factor)),
        (Some(w), None) => y.iter_mut().zip(w).for_each(|(y, w)| *y = y.mul(factor).mul(*w)),
        (None, Some(b)) => y.iter_mut().zip(b).for_each(|(y, b)| *y = y.mul(factor).add(*b)),
        (Some(w), Some(b)) => {
            y.iter_mut().zip(w.iter().zip(b)).for_each(|(y, (w, b))| *y = y.mul(factor).mul(*w).add(*b));
        }
    }
}

/// (x − mean) / √(variance + eps) · weight + bias, with one parameter per channel, axis 1.
pub(crate) fn batch_norm(
    storage: &CpuStorage,
    layout: &Layout,
    channels: &Channels<'_, CpuStorage>,
) -> Result<CpuStorage> {
    let name = "batch_norm";
    let Channels { statistics: [mean, variance], affine: [weight, bias], eps } = *channels;
    dispatch_float!(storage, elements: T => {
        if layout.elements() == 0 {
            return Ok(T::store(Vec::new()));
        }
        let mean = wide::<T>(Some(mean), name)?.unwrap_or_default();
        let variance = wide::<T>(Some(variance), name)?.unwrap_or_default();
        let (weight, bias) = (wide::<T>(weight, name)?, wide::<T>(bias, name)?);
        let eps = real::<<T as Number>::Compute>(eps);
        let of = |of: &Option<Vec<_>>, channel: usize, otherwise| {
            of.as_ref().map_or(otherwise, |of| of[channel])
        };
        let numbers = mean.iter().zip(&variance).enumerate().map(|(channel, (mean, variance))| Channel {
            mean: *mean,
            factor: <<T as Number>::Compute as Arith>::ONE.div(variance.add(eps).sqrt()),
            weight: of(&weight, channel, Arith::ONE),
            bias: of(&bias, channel, Default::default()),
        });
        let inner = layout.dims()[2..].iter().product::<usize>();
        let numbers: Vec<_> = numbers.collect();
        each_channel(&Source::new(elements, layout), &numbers, (layout.elements(), inner)).map(T::store)
    }, else Err(unsupported(name, storage)))
}

/// The parameters of one channel.
#[derive(Clone, Copy)]
struct Channel<C> {
    mean: C,
    factor: C,
    weight: C,
    bias: C,
}

impl<C: Arith> Channel<C> {
    #[inline(always)]
    fn of(&self, x: C) -> C {
        x.sub(self.mean).mul(self.factor).mul(self.weight).add(self.bias)
    }
}

/// Normalises each element by its channel. Element i belongs to channel `i / inner`, modulo the number of channels.
fn each_channel<T: Number>(
    source: &Source<'_, T>,
    channels: &[Channel<T::Compute>],
    (elements, inner): (usize, usize),
) -> Result<Vec<T>> {
    new_chunks(
        elements,
        (CHUNK, WORK),
        "batch_norm",
        &|start, out, (gathered, wide, result): &mut Scratch<T>| {
            let x = T::widen(source.block(start, out.len(), gathered), wide);
            T::narrow(out, result, |y| {
                let mut done = 0;
                while done < y.len() {
                    let (outer, first) = ((start + done) / inner, (start + done) % inner);
                    let channel = outer % channels.len();
                    let left = if inner == 1 { channels.len() - channel } else { inner - first };
                    let range = done..y.len().min(done + left);
                    let (x, y) = (&x[range.clone()], &mut y[range.clone()]);
                    if inner == 1 {
                        let pairs = y.iter_mut().zip(x).zip(&channels[channel..]);
                        pairs.for_each(|((y, x), channel)| *y = channel.of(*x));
                    } else {
                        let channel = channels[channel];
                        y.iter_mut().zip(x).for_each(|(y, x)| *y = channel.of(*x));
                    }
                    done = range.end;
                }
            });
        },
    )
}

/// The parameter's numbers as compute values.
fn wide<T: Number>(
    given: Option<Parameters<'_, CpuStorage>>,
    operation: &'static str,
) -> Result<Option<Vec<T::Compute>>> {
    let Some(Parameters { storage, layout }) = given else { return Ok(None) };
    let elements = T::stored(storage).ok_or_else(|| unsupported(operation, storage))?;
    let tight = &elements[layout.offset()..layout.offset() + layout.elements()];
    Ok(Some(tight.iter().map(|x| x.to_compute()).collect()))
}

/// A number rounded to the compute type.
fn real<C: crate::element::Element>(x: f64) -> C {
    C::from_scalar(Scalar::Float(x))
}

/// Gathered elements, their compute values, and results.
type Scratch<T> = (Vec<T>, Vec<<T as Number>::Compute>, Vec<<T as Number>::Compute>);
