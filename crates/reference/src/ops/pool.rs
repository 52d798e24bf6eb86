//! Pooling and upsampling of planes, directly from their definitions.

use super::{maximum, sums};
use crate::array::Data;
use crate::shape::count;
use crate::{Array, DType, Dd, Error, Expected, Judge, Outcome, bounds};

/// The operation on a plane, with parameters for rows and for columns.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Pool {
    /// The maximum of each window: NaN propagates, −0 is less than +0, padding is ignored.
    Max(Windows),
    /// The mean of each window; `true` counts padding as zeros.
    Mean(Windows, bool),
    /// Means of this many bins that cover the plane. Bin i is ⌊i·length/bins⌋ up to ⌈(i + 1)·length/bins⌉, exclusive.
    Adaptive([usize; 2]),
    /// Upsampling to these lengths: the element at ⌊i·length/size⌋.
    Nearest([usize; 2]),
    /// Bilinear upsampling to these lengths; `true` aligns the corners.
    Bilinear([usize; 2], bool),
}

/// The windows on a plane.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Windows {
    /// Lengths.
    pub window: [usize; 2],
    /// Step from one window to the next.
    pub stride: [usize; 2],
    /// Padding on either side.
    pub padding: [usize; 2],
    /// Whether the last window may reach beyond the padded input. It must begin inside the input or the padding before
    /// it.
    pub ceil: bool,
}

impl Windows {
    /// The number of windows along an axis of length `input`.
    fn count(&self, axis: usize, input: usize) -> Option<usize> {
        let (window, stride, padding) = (self.window[axis], self.stride[axis], self.padding[axis]);
        let starts = (0..).map(|i| i * stride);
        let padded = input + 2 * padding;
        let whole = starts.clone().take_while(|start| start + window <= padded).count();
        let cut = starts
            .skip(whole)
            .take(1)
            .filter(|start| self.ceil && *start < input + padding && start + window < padded + stride);
        (whole > 0).then(|| whole + cut.count())
    }

    /// The inputs in window `y` of an axis, and the window's length within the padded input.
    fn inputs(&self, axis: usize, input: usize, y: usize) -> (std::ops::Range<usize>, usize) {
        let (start, padding) = (y * self.stride[axis], self.padding[axis]);
        let padded = start..(start + self.window[axis]).min(input + 2 * padding);
        let inside = |index: usize| index.saturating_sub(padding).min(input);
        (inside(padded.start)..inside(padded.end), padded.len())
    }
}

/// Applies `how` to every plane of `x` [batch, channels, rows, columns], or [batch, channels, columns] for single rows.
/// Floats only.
///
/// # Errors
/// [`Error::Unsupported`], [`Error::Windows`] for shapes that do not match, [`Error::TooLarge`].
pub fn pool(x: &Array, how: Pool) -> Result<Outcome<'_>, Error> {
    let op = "pool";
    let dtype = x.dtype();
    let Data::Float(values) = &x.data else {
        return Err(Error::Unsupported { op, dtype });
    };
    let misfit = || Error::Windows { op, input: x.shape().to_vec(), kernel: Vec::new() };
    let (flat, input) = match *x.shape() {
        [_, _, width] => (true, [1, width]),
        [_, _, height, width] => (false, [height, width]),
        _ => return Err(misfit()),
    };
    let size = match how {
        Pool::Max(windows) | Pool::Mean(windows, _) => {
            let axis = |axis: usize| windows.count(axis, input[axis]).ok_or_else(misfit);
            [axis(0)?, axis(1)?]
        }
        Pool::Adaptive(size) | Pool::Nearest(size) | Pool::Bilinear(size, _) => size,
    };
    if input.contains(&0) {
        return Err(misfit());
    }
    let mut shape = x.shape()[..2].to_vec();
    shape.extend_from_slice(if flat { &size[1..] } else { &size });
    count(&shape)?;

    // A sum has as many terms as the largest window; an interpolation has four.
    let terms = match how {
        Pool::Mean(windows, _) => windows.window[0] * windows.window[1],
        Pool::Adaptive(size) => (0..2).map(|axis| input[axis].div_ceil(size[axis].max(1)) + 1).product(),
        _ => 4,
    };
    let judge = match how {
        Pool::Max(_) | Pool::Nearest(_) => Judge::Exact,
        _ => Judge::Within { ulps: 1.0, t: bounds::sum_tolerance(dtype, terms) },
    };
    Ok(Outcome::new(dtype, shape, judge, move |index| {
        let (z, y) = (index % size[1], index / size[1] % size[0]);
        let plane = &values[index / (size[0] * size[1]) * (input[0] * input[1])..];
        let at = |i: usize, j: usize| plane[i * input[1] + j];
        let mean = |rows: (std::ops::Range<usize>, usize), columns: (std::ops::Range<usize>, usize)| {
            sums::expected(dtype, (rows.1 * columns.1) as f64, 1, |factor, sum| {
                for i in rows.0.clone() {
                    columns.0.clone().for_each(|j| sum.add(at(i, j) * factor));
                }
            })
        };
        match how {
            Pool::Max(windows) => {
                let (rows, columns) = (windows.inputs(0, input[0], y).0, windows.inputs(1, input[1], z).0);
                let elements = rows.flat_map(|i| columns.clone().map(move |j| at(i, j)));
                let greatest = elements.reduce(maximum).expect("windows meet the input");
                Expected::exact(dtype, dtype.encode(crate::Value::Float(greatest)))
            }
            Pool::Mean(windows, padding) => {
                let counted = |(inputs, padded): (std::ops::Range<usize>, usize)| {
                    let count = if padding { padded } else { inputs.len() };
                    (inputs, count)
                };
                mean(counted(windows.inputs(0, input[0], y)), counted(windows.inputs(1, input[1], z)))
            }
            Pool::Adaptive(bins) => {
                let bin = |axis: usize, i: usize| {
                    let inputs = i * input[axis] / bins[axis]..((i + 1) * input[axis]).div_ceil(bins[axis]);
                    (inputs.clone(), inputs.len())
                };
                mean(bin(0, y), bin(1, z))
            }
            Pool::Nearest(_) => {
                let element = at(y * input[0] / size[0], z * input[1] / size[1]);
                Expected::exact(dtype, dtype.encode(crate::Value::Float(element)))
            }
            Pool::Bilinear(_, align) => {
                let rows = neighbours(input[0], size[0], y, align);
                let columns = neighbours(input[1], size[1], z, align);
                interpolated(dtype, &rows, &columns, at)
            }
        }
    }))
}

/// The two neighbours of output `y`, and their weights.
fn neighbours(input: usize, out: usize, y: usize, align: bool) -> [(usize, Dd); 2] {
    let (position, parts) = match (align, out) {
        (true, 0 | 1) => (0, 1),
        (true, _) => (y * (input - 1), out - 1),
        (false, _) => (((2 * y + 1) * input).saturating_sub(out), 2 * out),
    };
    let weight = |share: usize| Dd::from(share as f64) / Dd::from(parts as f64);
    let (first, rest) = (position / parts, position % parts);
    [(first, weight(parts - rest)), ((first + 1).min(input - 1), weight(rest))]
}

fn interpolated(
    dtype: DType,
    rows: &[(usize, Dd); 2],
    columns: &[(usize, Dd); 2],
    at: impl Fn(usize, usize) -> f64,
) -> Expected {
    let (mut sum, mut magnitude) = (Dd::from(0.0), 0.0);
    for (i, above) in rows {
        for (j, left) in columns {
            let term = *above * *left * Dd::from(at(*i, *j));
            sum = sum + term;
            magnitude += term.hi.abs();
        }
    }
    // The ulp of every term is that of a computed number, which may be subnormal.
    let least = crate::round::min_normal(bounds::compute(dtype));
    Expected::rounded(dtype, sum, magnitude + least)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn array(shape: &[usize], values: &[f64]) -> Array {
        Array::from_f64(DType::F64, shape, values).expect("as many values as the shape has")
    }

    fn results(x: &Array, how: Pool) -> (Vec<usize>, Vec<f64>) {
        let outcome = pool(x, how).expect("it fits");
        (outcome.shape().to_vec(), outcome.iter().map(|expected| expected.value.hi).collect())
    }

    const PAIRS: Windows = Windows { window: [1, 2], stride: [1, 2], padding: [0, 0], ceil: false };

    #[test]
    fn windows_by_hand() {
        let x = array(&[1, 1, 1, 5], &[-1.0, -2.0, -3.0, -4.0, -5.0]);
        assert_eq!(results(&x, Pool::Max(PAIRS)), (vec![1, 1, 1, 2], vec![-1.0, -3.0]));
        assert_eq!(
            results(&x, Pool::Max(Windows { ceil: true, ..PAIRS })),
            (vec![1, 1, 1, 3], vec![-1.0, -3.0, -5.0])
        );
        let padded = Windows { padding: [0, 1], ..PAIRS };
        assert_eq!(results(&x, Pool::Max(padded)), (vec![1, 1, 1, 3], vec![-1.0, -2.0, -4.0]));
        assert_eq!(results(&x, Pool::Mean(padded, true)).1, [-0.5, -2.5, -4.5]);
        assert_eq!(results(&x, Pool::Mean(padded, false)).1, [-1.0, -2.5, -4.5]);
        // PyTorch: a window of 3 with stride 3 and padding 1 over 6 elements, rounded up, begins at 6 and counts one
        // element of padding.
        let x = array(&[1, 1, 1, 6], &[1.0, 2.0, 3.0, 4.0, 5.0, 6.0]);
        let cut = Windows { window: [1, 3], stride: [1, 3], padding: [0, 1], ceil: true };
        assert_eq!(results(&x, Pool::Mean(cut, true)).1, [1.0, 4.0, 3.0]);
        assert_eq!(results(&x, Pool::Mean(cut, false)).1, [1.5, 4.0, 6.0]);
    }

    #[test]
    fn nan_wins_and_zeros_have_signs() {
        let x = array(&[1, 1, 1, 4], &[f64::NAN, 1.0, -0.0, 0.0]);
        let outcome = pool(&x, Pool::Max(PAIRS)).expect("it fits");
        assert!(outcome.at(0).value.hi.is_nan());
        assert_eq!(outcome.at(1).bits, 0);
    }

    #[test]
    fn bins_by_hand() {
        // 3 bins of 5 elements: 0..2, 1..4, 3..5.
        let x = array(&[1, 1, 5], &[1.0, 2.0, 3.0, 4.0, 6.0]);
        assert_eq!(results(&x, Pool::Adaptive([1, 3])), (vec![1, 1, 3], vec![1.5, 3.0, 5.0]));
    }

    #[test]
    fn upsampling_by_hand() {
        let x = array(&[1, 1, 3], &[1.0, 2.0, 4.0]);
        assert_eq!(results(&x, Pool::Nearest([1, 5])).1, [1.0, 1.0, 2.0, 2.0, 4.0]);
        assert_eq!(results(&x, Pool::Nearest([1, 2])).1, [1.0, 2.0]);
        assert_eq!(results(&x, Pool::Bilinear([1, 5], true)).1, [1.0, 1.5, 2.0, 3.0, 4.0]);
        // Positions -1/4, 1/4, 3/4, 5/4, 7/4, 9/4.
        assert_eq!(results(&x, Pool::Bilinear([1, 6], false)).1, [1.0, 1.25, 1.75, 2.5, 3.5, 4.0]);
        let square = array(&[1, 1, 2, 2], &[0.0, 1.0, 2.0, 3.0]);
        let middle = results(&square, Pool::Bilinear([3, 3], true)).1;
        assert_eq!(middle, [0.0, 0.5, 1.0, 1.0, 1.5, 2.0, 2.0, 2.5, 3.0]);
    }
}
