//! Convolutions in one and two dimensions, forward and transposed, directly from the definition.

use super::sums;
use crate::array::Data;
use crate::round;
use crate::shape::count;
use crate::{Array, Error, Expected, Judge, Outcome, bounds};

/// Parameters of a convolution, for rows and for columns. A one-dimensional convolution is the columns of a single row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Convolution {
    /// Whether the convolution is transposed: inputs add to outputs.
    pub transposed: bool,
    /// Zeros added on either side.
    pub padding: [usize; 2],
    /// Step from one window to the next.
    pub stride: [usize; 2],
    /// Distance between neighbouring kernel elements.
    pub dilation: [usize; 2],
    /// Groups of channels.
    pub groups: usize,
    /// Elements added at the end of a transposed convolution's output.
    pub output_padding: [usize; 2],
}

impl Default for Convolution {
    fn default() -> Convolution {
        Convolution {
            transposed: false,
            padding: [0; 2],
            stride: [1; 2],
            dilation: [1; 2],
            groups: 1,
            output_padding: [0; 2],
        }
    }
}

/// One axis: lengths and parameters, which relate outputs, inputs and taps.
#[derive(Clone, Copy)]
struct Axis {
    out: usize,
    input: usize,
    taps: usize,
    /// Whether the stride applies to the input's position instead of the output's.
    transposed: bool,
    padding: usize,
    stride: usize,
    dilation: usize,
}

impl Axis {
    /// The input position that output `y` reads with tap `k`, if it is inside the input.
    fn input_index(&self, y: usize, k: usize) -> Option<usize> {
        let index = if self.transposed {
            let reached = (y + self.padding).checked_sub(k * self.dilation)?;
            (reached % self.stride == 0).then_some(reached / self.stride)?
        } else {
            (y * self.stride + k * self.dilation).checked_sub(self.padding)?
        };
        (index < self.input).then_some(index)
    }
}

/// The convolution of `x` [batch, channels, (rows,) columns] with `kernel` [outputs, channels / groups, (rows,)
/// columns], or transposed [channels, outputs / groups, (rows,) columns], plus `bias` `[outputs]`. Floats only; types
/// up to `f32` accumulate in `f32`.
///
/// # Errors
/// [`Error::Unsupported`], [`Error::DTypes`], [`Error::Windows`] for shapes that do not match, [`Error::TooLarge`].
pub fn convolution<'a>(
    x: &'a Array,
    kernel: &'a Array,
    bias: Option<&'a Array>,
    how: Convolution,
) -> Result<Outcome<'a>, Error> {
    let op = "convolution";
    let dtype = x.dtype();
    if let Some(other) = [Some(kernel), bias].into_iter().flatten().find(|other| other.dtype() != dtype) {
        return Err(Error::DTypes { op, left: dtype, right: other.dtype() });
    }
    let misfit = || Error::Windows { op, input: x.shape().to_vec(), kernel: kernel.shape().to_vec() };
    let (Data::Float(values), Data::Float(taps)) = (&x.data, &kernel.data) else {
        return Err(Error::Unsupported { op, dtype });
    };
    let addends = match bias.map(|bias| &bias.data) {
        Some(Data::Float(addends)) => Some(addends),
        _ => None,
    };
    // One-dimensional operands get a dimension of length 1.
    let (flat, [batch, channels, height, width]) = four(x.shape()).ok_or_else(misfit)?;
    let (flat_kernel, [first, second, rows, columns]) = four(kernel.shape()).ok_or_else(misfit)?;
    let groups = how.groups;
    if flat != flat_kernel || groups == 0 || channels % groups != 0 || first % groups != 0 {
        return Err(misfit());
    }
    let (inputs, outputs) = if how.transposed { (first, second * groups) } else { (second * groups, first) };
    if inputs != channels || bias.is_some_and(|bias| bias.shape() != [outputs]) {
        return Err(misfit());
    }
    let axis = |axis: usize, input: usize, taps: usize| {
        let (padding, stride, dilation) = (how.padding[axis], how.stride[axis], how.dilation[axis]);
        let reach = dilation * taps.checked_sub(1)? + 1;
        let out = if how.transposed {
            (input.checked_sub(1)? * stride + reach + how.output_padding[axis]).checked_sub(2 * padding)?
        } else {
            (input + 2 * padding).checked_sub(reach)? / stride + 1
        };
        Some(Axis { out, input, taps, transposed: how.transposed, padding, stride, dilation })
    };
    let h = axis(0, height, rows).ok_or_else(misfit)?;
    let w = axis(1, width, columns).ok_or_else(misfit)?;
    let shape = if flat { vec![batch, outputs, w.out] } else { vec![batch, outputs, h.out, w.out] };
    count(&shape)?;

    let (per_group, outputs_per_group) = (channels / groups, outputs / groups);
    let terms = per_group * rows * columns + usize::from(bias.is_some());
    let judge = Judge::Within { ulps: 1.0, t: bounds::sum_tolerance(dtype, terms) };
    Ok(Outcome::new(dtype, shape, judge, move |index| {
        let (z, y) = (index % w.out, index / w.out % h.out);
        let (output, image) = (index / (h.out * w.out) % outputs, index / (h.out * w.out * outputs));
        let group = output / outputs_per_group;
        let mut expected: Expected = sums::expected(dtype, 1.0, 2, |factor, sum| {
            for channel in 0..per_group {
                let plane = (image * channels + group * per_group + channel) * height;
                let filter = if how.transposed {
                    (group * per_group + channel) * outputs_per_group + output % outputs_per_group
                } else {
                    output * per_group + channel
                };
                for (row, i) in (0..h.taps).filter_map(|row| Some((row, h.input_index(y, row)?))) {
                    for (column, j) in
                        (0..w.taps).filter_map(|column| Some((column, w.input_index(z, column)?)))
                    {
                        let tap = taps[(filter * rows + row) * columns + column];
                        let value = values[(plane + i) * width + j];
                        if value.is_finite() && tap.is_finite() {
                            sum.add_product(value * factor, tap * factor);
                        } else {
                            // Not scaled: a subnormal tap would become 0, and NaN times an infinity.
                            sum.add(value * tap);
                        }
                    }
                }
            }
            if let Some(addends) = addends {
                sum.add_product(addends[output] * factor, factor);
            }
        });
        // As for matrix products: subnormal products have an error of up to half the smallest subnormal.
        expected.scale += 0.3 * round::min_normal(bounds::compute(dtype)) * (terms as f64).sqrt();
        expected
    }))
}

/// The shape with four dimensions, and whether one was added.
fn four(shape: &[usize]) -> Option<(bool, [usize; 4])> {
    match *shape {
        [batch, channels, width] => Some((true, [batch, channels, 1, width])),
        [batch, channels, height, width] => Some((false, [batch, channels, height, width])),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::DType;

    fn array(shape: &[usize], values: &[f64]) -> Array {
        Array::from_f64(DType::F32, shape, values).expect("as many values as the shape has")
    }

    fn results(outcome: &Outcome) -> Vec<f64> {
        outcome.iter().map(|expected| expected.value.hi).collect()
    }

    #[test]
    fn one_dimension_by_hand() {
        let x = array(&[1, 1, 5], &[1.0, 2.0, 3.0, 4.0, 5.0]);
        let kernel = array(&[1, 1, 3], &[1.0, 10.0, 100.0]);
        let run = |how| results(&convolution(&x, &kernel, None, how).expect("it fits"));
        assert_eq!(run(Convolution::default()), [321.0, 432.0, 543.0]);
        let padded = Convolution { padding: [0, 1], stride: [1, 2], ..Default::default() };
        assert_eq!(run(padded), [210.0, 432.0, 54.0]);
        let dilated = Convolution { dilation: [1, 2], ..Default::default() };
        assert_eq!(run(dilated), [531.0]);
        // Each input adds to three outputs: 1 at positions 0 1 2, 2 at positions 2 3 4, …
        let transposed = Convolution { transposed: true, stride: [1, 2], ..Default::default() };
        assert_eq!(run(transposed), [1.0, 10.0, 102.0, 20.0, 203.0, 30.0, 304.0, 40.0, 405.0, 50.0, 500.0]);
        let cut = Convolution { padding: [0, 1], output_padding: [0, 1], ..transposed };
        assert_eq!(run(cut), [10.0, 102.0, 20.0, 203.0, 30.0, 304.0, 40.0, 405.0, 50.0, 500.0]);
    }

    #[test]
    fn groups_and_bias_by_hand() {
        let x = array(&[1, 2, 1, 2], &[1.0, 2.0, 3.0, 4.0]);
        let bias = array(&[2], &[100.0, 200.0]);
        let kernel = array(&[2, 1, 1, 2], &[1.0, 10.0, 5.0, 50.0]);
        let how = Convolution { groups: 2, ..Default::default() };
        let outcome = convolution(&x, &kernel, Some(&bias), how).expect("it fits");
        assert_eq!((outcome.shape(), results(&outcome)), (&[1, 2, 1, 1][..], vec![121.0, 415.0]));
        // Without groups both channels contribute to both outputs. Transposed, the kernel's first axis is the input
        // channels.
        let kernel = array(&[2, 2, 1, 1], &[1.0, 10.0, 100.0, 1000.0]);
        let forward = convolution(&x, &kernel, None, Convolution::default()).expect("it fits");
        assert_eq!(results(&forward), [31.0, 42.0, 3100.0, 4200.0]);
        let how = Convolution { transposed: true, ..Default::default() };
        let transposed = convolution(&x, &kernel, None, how).expect("it fits");
        assert_eq!(results(&transposed), [301.0, 402.0, 3010.0, 4020.0]);
    }

    #[test]
    fn mismatched_sizes_are_errors() {
        let (x, kernel) = (array(&[1, 2, 3], &[0.0; 6]), array(&[1, 1, 2], &[0.0; 2]));
        assert!(matches!(convolution(&x, &kernel, None, Convolution::default()), Err(Error::Windows { .. })));
        let long = array(&[1, 2, 4], &[0.0; 8]);
        assert!(matches!(convolution(&x, &long, None, Convolution::default()), Err(Error::Windows { .. })));
    }
}
