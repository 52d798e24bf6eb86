//! Joining and padding tensors. The result is allocated once, and each element is written once.

use super::Tensor;
use crate::axis::Axis;
use crate::error::{Error, ErrorKind, On, Result};
use crate::layout::Layout;
use crate::plan::join::Piece;
use crate::scalar::Scalar;
use crate::shape::{Dims, Shape};
use crate::storage::{Backend, by_device, for_backend_of};

impl AsRef<Tensor> for Tensor {
    fn as_ref(&self) -> &Tensor {
        self
    }
}

/// Concatenating tensors.
impl Tensor {
    /// Concatenates tensors along `axis`. Their other axes are equal. A single tensor is returned as it is.
    ///
    /// Moves the result once, with one copy per tensor, read in place.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let a = Tensor::new([[1f32, 2.0], [3.0, 4.0]], &Device::Cpu)?;
    /// let b = Tensor::new([[5f32], [6.0]], &Device::Cpu)?;
    /// assert_eq!(Tensor::cat(&[&a, &b], 1)?.to_vec2::<f32>()?, [[1.0, 2.0, 5.0], [3.0, 4.0, 6.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if no tensor is given or shapes differ along another axis, [`ErrorKind::Axis`],
    /// [`ErrorKind::DTypeMismatch`], [`ErrorKind::DeviceMismatch`], [`ErrorKind::Overflow`], or an error of the device.
    #[doc(alias = "concatenate")]
    pub fn cat<A: AsRef<Tensor>>(tensors: &[A], axis: impl Axis) -> Result<Tensor> {
        let Some(first) = tensors.first().map(AsRef::as_ref) else { return Err(no_tensors("cat")) };
        let axis = axis.resolve(first.shape(), "cat").on(&first.device())?;
        let layouts: Vec<_> =
            tensors.iter().map(|tensor| (tensor.as_ref(), tensor.as_ref().layout.clone())).collect();
        join(&layouts, axis, "cat")
    }

    /// Concatenates tensors of one shape along a new axis, which becomes axis `axis` of the result.
    ///
    /// Moves the result once, with one copy per tensor, read in place.
    ///
    /// # Errors
    /// As [`Tensor::cat`], and [`ErrorKind::Argument`] if the shapes differ.
    pub fn stack<A: AsRef<Tensor>>(tensors: &[A], axis: impl Axis) -> Result<Tensor> {
        let Some(first) = tensors.first().map(AsRef::as_ref) else { return Err(no_tensors("stack")) };
        if let Some(other) = tensors.iter().map(AsRef::as_ref).find(|other| other.shape() != first.shape()) {
            let what = format!("shapes differ: {} and {}", first.shape(), other.shape());
            return Err(first.error("stack", ErrorKind::Argument { what }));
        }
        let longer = Shape::from_iter(first.dims().iter().copied().chain([1]));
        let axis = axis.resolve(&longer, "stack").map_err(|error| match error.kind() {
            ErrorKind::Axis { axis, .. } => {
                first.error("stack", ErrorKind::Axis { axis: *axis, shape: first.shape().clone() })
            }
            _ => error,
        })?;
        let layouts: Vec<_> =
            tensors.iter().map(|tensor| (tensor.as_ref(), tensor.as_ref().layout.unsqueeze(axis))).collect();
        join(&layouts, axis, "stack")
    }

    /// The tensor repeated `repeats[i]` times along axis `i`. If there are more repeats than axes, new axes are added
    /// in front; if there are fewer, the last axes are not repeated. Moves the result once.
    ///
    /// # Errors
    /// [`ErrorKind::Overflow`], or an error of the device.
    #[doc(alias = "tile")]
    pub fn repeat(&self, repeats: impl Into<Shape>) -> Result<Tensor> {
        let repeats = repeats.into();
        let added = repeats.rank().saturating_sub(self.rank());
        // An axis of length 1 before each axis, expanded to the repeats, gives a view of all repetitions.
        let (mut pairs, mut stretched, mut result) = (Dims::new(), Dims::new(), Dims::new());
        for axis in 0..added + self.rank() {
            let length = axis.checked_sub(added).map_or(1, |axis| self.dims()[axis]);
            let times = repeats.get(axis).copied().unwrap_or(1);
            pairs.extend([1, length]);
            stretched.extend([times, length]);
            let overflow =
                || self.error("repeat", ErrorKind::Overflow { shape: stretched.iter().copied().collect() });
            result.push(times.checked_mul(length).ok_or_else(overflow)?);
        }
        let view = self.view(Shape::from_iter(pairs))?.layout;
        let view = view.expand(&Shape::from_iter(stretched), "repeat").on(self)?;
        let storage = by_device!(copy::copy(x, &view), x = self.storage()).on(self)?;
        Tensor::tight(storage, Shape::from_iter(result), "repeat")
    }

    /// The elements shifted by `shift` along `axis`, cyclically. A positive shift moves towards higher indices. Moves
    /// the tensor once.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`], or an error of the device.
    pub fn roll(&self, shift: i64, axis: impl Axis) -> Result<Tensor> {
        let axis = axis.resolve(self.shape(), "roll").on(self)?;
        let length = self.dims()[axis];
        let shift = i128::from(shift).rem_euclid(length.max(1) as i128) as usize;
        if shift == 0 || self.elements() == 0 {
            return self.share();
        }
        let part = |start: usize, length: usize| self.layout.narrow(axis, start, length, "roll").on(self);
        let (last, first) = (part(length - shift, shift)?, part(0, length - shift)?);
        join(&[(self, last), (self, first)], axis, "roll")
    }
}

/// Padding.
impl Tensor {
    /// Pads `axis` with `left` zeros before and `right` zeros after the elements. Moves the result once.
    ///
    /// # Errors
    /// [`ErrorKind::Axis`], [`ErrorKind::Overflow`], or an error of the device.
    pub fn pad_with_zeros(&self, axis: impl Axis, left: usize, right: usize) -> Result<Tensor> {
        let axis = axis.resolve(self.shape(), "pad_with_zeros").on(self)?;
        let mut sides = vec![(0, 0); self.rank()];
        sides[axis] = (left, right);
        self.surround(&sides, Scalar::Int(0), "pad_with_zeros")
    }

    /// Pads `axis` with `left` copies of its first element before and `right` copies of its last element after. Moves
    /// the result once.
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if there is no element to repeat, [`ErrorKind::Axis`], [`ErrorKind::Overflow`], or an
    /// error of the device.
    #[doc(alias = "replication_pad")]
    pub fn pad_with_same(&self, axis: impl Axis, left: usize, right: usize) -> Result<Tensor> {
        const NAME: &str = "pad_with_same";
        let axis = axis.resolve(self.shape(), NAME).on(self)?;
        let length = self.dims()[axis];
        if length == 0 && (left > 0 || right > 0) {
            let what = format!("{} has no element along axis {axis} to repeat", self.shape());
            return Err(self.error(NAME, ErrorKind::Argument { what }));
        }
        let side = |index: usize, times: usize| -> Result<Layout> {
            let mut shape = self.shape().clone();
            shape.dims_mut()[axis] = times;
            self.layout.narrow(axis, index, 1, NAME)?.expand(&shape, NAME).on(self)
        };
        let mut pieces = vec![(self, self.layout.clone())];
        if left > 0 {
            pieces.insert(0, (self, side(0, left)?));
        }
        if right > 0 {
            pieces.push((self, side(length - 1, right)?));
        }
        join(&pieces, axis, NAME)
    }

    /// Pads the tensor with `value`, rounded to its dtype. As in PyTorch, `padding` has a pair (before, after) for each
    /// padded axis, the last axis first. Moves the result once.
    ///
    /// ```
    /// use tensor_core::{Device, Tensor};
    ///
    /// # fn main() -> tensor_core::Result<()> {
    /// let x = Tensor::new([[1f32, 2.0]], &Device::Cpu)?;
    /// let y = x.pad(&[0, 1, 1, 0], 9.0)?; // one after each row, one row before
    /// assert_eq!(y.to_vec2::<f32>()?, [[9.0, 9.0, 9.0], [1.0, 2.0, 9.0]]);
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Argument`] if `padding` is odd or has more pairs than the tensor has axes, [`ErrorKind::Overflow`],
    /// or an error of the device.
    #[doc(alias = "constant_pad")]
    pub fn pad(&self, padding: &[usize], value: impl Into<Scalar>) -> Result<Tensor> {
        if !padding.len().is_multiple_of(2) || padding.len() / 2 > self.rank() {
            let what = format!(
                "{} numbers given for {}: there is a pair for each padded axis, the last axis first",
                padding.len(),
                self.shape()
            );
            return Err(self.error("pad", ErrorKind::Argument { what }));
        }
        let mut sides = vec![(0, 0); self.rank()];
        for (side, pair) in sides.iter_mut().rev().zip(padding.chunks_exact(2)) {
            *side = (pair[0], pair[1]);
        }
        self.surround(&sides, value.into(), "pad")
    }

    fn surround(&self, sides: &[(usize, usize)], value: Scalar, operation: &'static str) -> Result<Tensor> {
        let mut shape = self.shape().clone();
        for (length, (left, right)) in shape.dims_mut().iter_mut().zip(sides) {
            let sum = length.checked_add(*left).and_then(|sum| sum.checked_add(*right));
            let overflow = || self.error(operation, ErrorKind::Overflow { shape: self.shape().clone() });
            *length = sum.ok_or_else(overflow)?;
        }
        shape.elements(operation).on(self)?;
        let starts: Vec<usize> = sides.iter().map(|side| side.0).collect();
        let storage =
            by_device!(join::pad((x, &self.layout), &shape, &starts, value), x = self.storage()).on(self)?;
        Tensor::tight(storage, shape, operation)
    }
}

/// Concatenates layouts of tensors along `axis`, an axis of the layouts.
fn join(pieces: &[(&Tensor, Layout)], axis: usize, operation: &'static str) -> Result<Tensor> {
    let (first, layout) = &pieces[0];
    let mut shape = layout.shape().clone();
    for (other, other_layout) in &pieces[1..] {
        first.require_alike(other, operation)?;
        let (dims, others) = (layout.dims(), other_layout.dims());
        let fits = dims.len() == others.len() && (0..dims.len()).all(|i| i == axis || dims[i] == others[i]);
        if !fits {
            let what = format!(
                "{} and {} differ along another axis than {axis}",
                layout.shape(),
                other_layout.shape()
            );
            return Err(first.error(operation, ErrorKind::Argument { what }));
        }
        let sum = shape[axis].checked_add(others[axis]);
        let overflow = || first.error(operation, ErrorKind::Overflow { shape: layout.shape().clone() });
        shape.dims_mut()[axis] = sum.ok_or_else(overflow)?;
    }
    if pieces.len() == 1 {
        return first.with_layout(layout.clone());
    }
    shape.elements(operation).on(&first.device())?;
    let storage = by_device!(join::join(&shape, axis, &beside_each(pieces)?), _x = first.storage());
    let storage = storage.on(&first.device())?;
    Tensor::tight(storage, shape, operation)
}

/// The pieces, for the backend of the first.
fn beside_each<'a, S: Backend>(pieces: &'a [(&Tensor, Layout)]) -> Result<Vec<Piece<'a, S>>> {
    let first = pieces[0].0.storage();
    let piece = |(tensor, layout): &'a (&Tensor, Layout)| {
        Ok((for_backend_of(first, tensor.storage(), "cat")?, layout))
    };
    pieces.iter().map(piece).collect()
}

fn no_tensors(operation: &'static str) -> Error {
    Error::new(operation, ErrorKind::Argument { what: "no tensors given: at least one is needed".into() })
}
