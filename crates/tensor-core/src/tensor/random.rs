//! Random tensors. See [`Generator`] for the source of the numbers.

use super::{CAST_TO_FLOAT, Tensor};
use crate::cpu::dispatch::dispatch_dtype;
use crate::device::Device;
use crate::dtype::DType;
use crate::element::Element;
use crate::error::{Error, ErrorKind, On, Result};
use crate::layout::Layout;
use crate::random::Generator;
use crate::scalar::Scalar;
use crate::shape::Shape;
use crate::storage::{by_device, new_on};

/// The remedy for a float operation called with an integer dtype.
const USE_RANDINT: &str = "draw integers with randint";
/// The remedy for an integer operation called with a float dtype.
const USE_UNIFORM: &str = "draw floats with uniform, or cast the result with to_dtype";

/// Random tensors. Every call is one draw. It runs on the given device and moves the bytes of its result.
impl Generator {
    /// Numbers uniformly distributed over `low..high`: low + u · (high − low), where u is a multiple of 2⁻²⁴ (2⁻⁵³ for
    /// `f64`) in [0, 1). They are computed with one fused multiply-add in `f32` (`f64`) and rounded to `dtype`. A
    /// result that would round to `high` becomes the next smaller number of `dtype`. If the bounds are equal, so are
    /// all elements.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedDType`] for integers; [`ErrorKind::Argument`] if a bound is not finite in `dtype`,
    /// `high` is below `low`, or their difference overflows; the errors of [`Tensor::zeros`].
    pub fn uniform(
        &mut self,
        low: impl Into<Scalar>,
        high: impl Into<Scalar>,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        let (shape, draw) = (shape.into(), self.draw());
        require_float("uniform", dtype, &shape, device)?;
        let [low, high] = [rounded(dtype, low.into()), rounded(dtype, high.into())];
        let width = if dtype == DType::F64 { high - low } else { f64::from(high as f32 - low as f32) };
        // This also rejects infinities and NaN: their width is not finite.
        if !(width.is_finite() && low <= high) {
            let what =
                format!("{low}..{high} is no range of {dtype}: it must be finite, and not turned round");
            return Err(argument("uniform", what, device));
        }
        if low == high {
            return Tensor::full(low, shape, dtype, device);
        }
        let count = shape.elements("uniform").on(device)?;
        let scalars = [low, high, before(dtype, high)].map(Scalar::Float);
        let storage = new_on!(device, random::uniform(dtype, count, draw, scalars)).on(device)?;
        Tensor::tight(storage, shape, "uniform")
    }

    /// Normally distributed numbers: mean + deviation · z, computed with one fused multiply-add in `f32` (`f64` for
    /// `f64`) and rounded to `dtype`. z is computed by the Box-Muller transform. Its magnitude is at most 6.8 (8.6 for
    /// `f64`).
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedDType`] for integers; [`ErrorKind::Argument`] if mean or deviation are not finite in
    /// `dtype`, or the deviation is negative; the errors of [`Tensor::zeros`].
    pub fn normal(
        &mut self,
        mean: impl Into<Scalar>,
        deviation: impl Into<Scalar>,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        let (shape, draw) = (shape.into(), self.draw());
        require_float("normal", dtype, &shape, device)?;
        let [mean, deviation] = [rounded(dtype, mean.into()), rounded(dtype, deviation.into())];
        if !(mean.is_finite() && deviation.is_finite() && deviation >= 0.0) {
            let what = format!(
                "mean {mean} and deviation {deviation} describe no distribution: they must be finite in {dtype}, and the \
                 deviation not negative"
            );
            return Err(argument("normal", what, device));
        }
        let count = shape.elements("normal").on(device)?;
        let scalars = [mean, deviation].map(Scalar::Float);
        let storage = new_on!(device, random::normal(dtype, count, draw, scalars)).on(device)?;
        Tensor::tight(storage, shape, "normal")
    }

    /// Integers uniformly distributed over `low..high`, which must fit `dtype`: low + (w · (high − low)) / 2⁶⁴ with a
    /// 64-bit word w. The probabilities of two integers differ by at most a fraction (high − low) / 2⁶⁴.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedDType`] for floats; [`ErrorKind::Argument`] if the range is empty or does not fit
    /// `dtype`; the errors of [`Tensor::zeros`].
    pub fn randint(
        &mut self,
        low: i64,
        high: i64,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        let (shape, draw) = (shape.into(), self.draw());
        require_integer("randint", dtype, &shape, device)?;
        if low >= high || !has(dtype, low) || !has(dtype, high - 1) {
            let what =
                format!("{low}..{high} is no range of {dtype}: it must not be empty, and all in the dtype");
            return Err(argument("randint", what, device));
        }
        let count = shape.elements("randint").on(device)?;
        let span = high.wrapping_sub(low) as u64;
        let storage = new_on!(device, random::randint(dtype, count, draw, low, span)).on(device)?;
        Tensor::tight(storage, shape, "randint")
    }

    /// The integers `0..count` in random order: a tensor of rank 1.
    ///
    /// The order is the [`Tensor::argsort`] of random keys, the upper 63 bits of the elements' 64-bit words. All orders
    /// are equally likely if no keys are equal; equal keys keep their order. The probability of any equal keys is below
    /// count² / 2⁶⁴. Moves 8 bytes per key, what sorting them moves, and the bytes of the result.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedDType`] for floats; [`ErrorKind::Argument`] if `count − 1` does not fit `dtype`;
    /// [`ErrorKind::TooLongForPosition`] above `u32::MAX` elements; the errors of [`Tensor::zeros`].
    pub fn randperm(&mut self, count: usize, dtype: DType, device: &Device) -> Result<Tensor> {
        let draw = self.draw();
        require_integer("randperm", dtype, &count.into(), device)?;
        let last = i64::try_from(count.saturating_sub(1)).ok();
        if !last.is_some_and(|last| has(dtype, last)) {
            let what = format!("{dtype} cannot count {count} elements");
            return Err(argument("randperm", what, device));
        }
        let shape = Shape::from(count);
        if count > u32::MAX as usize {
            let kind = ErrorKind::TooLongForPosition { shape, length: count };
            return Err(Error::new("randperm", kind).on(device));
        }
        let layout = Layout::contiguous(count, "randperm").on(device)?;
        let keys = new_on!(device, random::randint(DType::I64, count, draw, 0, 1 << 63)).on(device)?;
        let order = by_device!(sort::argsort(x, &layout, false, count, "randperm"), x = &keys).on(device)?;
        let storage = match dtype {
            DType::U32 => order,
            _ => by_device!(cast::cast(x, &layout, dtype), x = &order).on(device)?,
        };
        Tensor::tight(storage, shape, "randperm")
    }

    /// Ones with this probability, else zeros. An element is 1 if its 32-bit word is below p · 2³², rounded. The same
    /// elements are 1 in every dtype.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `probability` is not in 0..=1, and the errors of [`Tensor::zeros`].
    pub fn bernoulli(
        &mut self,
        probability: f64,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        let (shape, draw) = (shape.into(), self.draw());
        let threshold = threshold("bernoulli", probability, device)?;
        let count = shape.elements("bernoulli").on(device)?;
        let storage = new_on!(device, random::bernoulli(dtype, count, draw, threshold)).on(device)?;
        Tensor::tight(storage, shape, "bernoulli")
    }

    /// Replaces each element of `input` by 0 with this probability, and multiplies the others by 1 / (1 − probability),
    /// so that the mean is preserved. The elements replaced are those where [`Generator::bernoulli`] of the same draw
    /// has ones. The factor is computed in `f64` and rounded to the compute type; the product is rounded once more to
    /// the dtype.
    ///
    /// Moves the bytes of input and result. No mask is stored.
    ///
    /// # Errors
    /// [`ErrorKind::UnsupportedDType`] for integers, [`ErrorKind::Argument`] if `probability` is not in 0..=1, or an
    /// error of the device.
    pub fn dropout(&mut self, input: &Tensor, probability: f64) -> Result<Tensor> {
        let (device, draw) = (input.device(), self.draw());
        input.require("dropout", input.dtype().is_float(), CAST_TO_FLOAT)?;
        let threshold = threshold("dropout", probability, &device)?;
        if probability == 0.0 {
            return input.share();
        }
        let scale = 1.0 / (1.0 - probability);
        let dropped =
            by_device!(random::dropout(x, &input.layout, draw, threshold, scale), x = input.storage());
        Tensor::tight(dropped.on(&device)?, input.shape().clone(), "dropout")
    }
}

/// Random tensors from the device's own generator, see [`Device::set_seed`]. See [`Generator`] for how elements are
/// computed.
impl Tensor {
    /// Numbers uniformly distributed over `low..high`; see [`Generator::uniform`]. Moves the bytes of the result.
    ///
    /// # Errors
    /// As [`Generator::uniform`].
    pub fn rand<T: Element>(low: T, high: T, shape: impl Into<Shape>, device: &Device) -> Result<Tensor> {
        Tensor::uniform(low.to_scalar(), high.to_scalar(), shape, T::DTYPE, device)
    }

    /// As [`Tensor::rand`], for a dtype chosen at run time. Moves the bytes of the result.
    ///
    /// # Errors
    /// As [`Generator::uniform`].
    pub fn uniform(
        low: impl Into<Scalar>,
        high: impl Into<Scalar>,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        device.next_draw().uniform(low, high, shape, dtype, device)
    }

    /// Numbers uniformly distributed over `low..high`, with the shape, dtype and device of this tensor. Moves the bytes
    /// of the result.
    ///
    /// # Errors
    /// As [`Generator::uniform`].
    pub fn rand_like(&self, low: impl Into<Scalar>, high: impl Into<Scalar>) -> Result<Tensor> {
        Tensor::uniform(low, high, self.shape(), self.dtype(), &self.device())
    }

    /// Normally distributed numbers; see [`Generator::normal`]. Moves the bytes of the result.
    ///
    /// # Errors
    /// As [`Generator::normal`].
    pub fn randn<T: Element>(
        mean: T,
        deviation: T,
        shape: impl Into<Shape>,
        device: &Device,
    ) -> Result<Tensor> {
        Tensor::normal(mean.to_scalar(), deviation.to_scalar(), shape, T::DTYPE, device)
    }

    /// As [`Tensor::randn`], for a dtype chosen at run time. Moves the bytes of the result.
    ///
    /// # Errors
    /// As [`Generator::normal`].
    pub fn normal(
        mean: impl Into<Scalar>,
        deviation: impl Into<Scalar>,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        device.next_draw().normal(mean, deviation, shape, dtype, device)
    }

    /// Normally distributed numbers with the shape, dtype and device of this tensor. Moves the bytes of the result.
    ///
    /// # Errors
    /// As [`Generator::normal`].
    pub fn randn_like(&self, mean: impl Into<Scalar>, deviation: impl Into<Scalar>) -> Result<Tensor> {
        Tensor::normal(mean, deviation, self.shape(), self.dtype(), &self.device())
    }

    /// Integers uniformly distributed over `low..high`; see [`Generator::randint`]. Moves the bytes of the result.
    ///
    /// # Errors
    /// As [`Generator::randint`].
    pub fn randint(
        low: i64,
        high: i64,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        device.next_draw().randint(low, high, shape, dtype, device)
    }

    /// The integers `0..count` in random order; see [`Generator::randperm`], also for the bytes moved.
    ///
    /// # Errors
    /// As [`Generator::randperm`].
    pub fn randperm(count: usize, dtype: DType, device: &Device) -> Result<Tensor> {
        device.next_draw().randperm(count, dtype, device)
    }

    /// Ones with this probability, else zeros; see [`Generator::bernoulli`]. Moves the bytes of the result.
    ///
    /// # Errors
    /// As [`Generator::bernoulli`].
    pub fn bernoulli(
        probability: f64,
        shape: impl Into<Shape>,
        dtype: DType,
        device: &Device,
    ) -> Result<Tensor> {
        device.next_draw().bernoulli(probability, shape, dtype, device)
    }

    /// Ones with this probability, else zeros, with the shape, dtype and device of this tensor. Moves the bytes of the
    /// result.
    ///
    /// # Errors
    /// As [`Generator::bernoulli`].
    pub fn bernoulli_like(&self, probability: f64) -> Result<Tensor> {
        Tensor::bernoulli(probability, self.shape(), self.dtype(), &self.device())
    }

    /// Replaces each element by 0 with this probability and multiplies the others by 1 / (1 − probability); see
    /// [`Generator::dropout`]. Moves the bytes of input and result.
    ///
    /// # Errors
    /// As [`Generator::dropout`].
    pub fn dropout(&self, probability: f64) -> Result<Tensor> {
        self.device().next_draw().dropout(self, probability)
    }
}

/// A scalar rounded to a float `dtype`.
fn rounded(dtype: DType, scalar: Scalar) -> f64 {
    dispatch_dtype!(dtype, T => T::from_scalar(scalar).to_scalar().to_f64())
}

/// The next smaller number of a float `dtype`. `number` is finite and not the smallest.
fn before(dtype: DType, number: f64) -> f64 {
    dispatch_dtype!(dtype, T => before_of(T::from_scalar(Scalar::Float(number))).to_scalar().to_f64())
}

fn before_of<T: Element>(number: T) -> T {
    let size = size_of::<T>();
    let mut bytes = [0; 8];
    bytes[..size].copy_from_slice(bytemuck::bytes_of(&number));
    let (bits, sign) = (u64::from_le_bytes(bytes), 1 << (8 * size - 1));
    let before = match bits {
        _ if bits & !sign == 0 => sign | 1,
        _ if bits & sign != 0 => bits + 1,
        _ => bits - 1,
    };
    bytemuck::pod_read_unaligned(&before.to_le_bytes()[..size])
}

/// Whether this integer fits an integer `dtype`.
fn has(dtype: DType, integer: i64) -> bool {
    dispatch_dtype!(dtype, T => T::from_scalar(Scalar::Int(integer)).to_scalar() == Scalar::Int(integer))
}

/// Converts a probability to a threshold for 32-bit words: words below it count as 1.
fn threshold(operation: &'static str, probability: f64, device: &Device) -> Result<u64> {
    if !(0.0..=1.0).contains(&probability) {
        return Err(argument(
            operation,
            format!("{probability} is no probability: it must be in 0..=1"),
            device,
        ));
    }
    Ok((probability * 4_294_967_296.0).round() as u64)
}

fn argument(operation: &'static str, what: String, device: &Device) -> Error {
    Error::new(operation, ErrorKind::Argument { what }).on(device)
}

fn require_float(operation: &'static str, dtype: DType, shape: &Shape, device: &Device) -> Result<()> {
    require(operation, dtype.is_float(), dtype, shape, USE_RANDINT).on(device)
}

fn require_integer(operation: &'static str, dtype: DType, shape: &Shape, device: &Device) -> Result<()> {
    require(operation, !dtype.is_float(), dtype, shape, USE_UNIFORM).on(device)
}

fn require(
    operation: &'static str,
    supported: bool,
    dtype: DType,
    shape: &Shape,
    remedy: &'static str,
) -> Result<()> {
    if supported {
        return Ok(());
    }
    Err(Error::new(operation, ErrorKind::UnsupportedDType { dtype, shape: shape.clone(), remedy }))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::float8::F8E4M3;

    #[test]
    fn the_next_smaller_number() {
        assert_eq!(before(DType::F32, 1.0), f64::from(1.0 - f32::EPSILON / 2.0));
        assert_eq!(before(DType::F64, 0.0), -5e-324);
        assert_eq!(before(DType::F64, -1.0), -1.0 - f64::EPSILON);
        assert_eq!(before(DType::F16, 65504.0), 65472.0);
        assert_eq!(before(DType::BF16, 2.0), 1.9921875);
        assert_eq!(before(DType::F8E4M3, 1.0), 0.9375);
        assert_eq!(before_of(F8E4M3::from_bits(0x80)).to_bits(), 0x81);
    }
}
