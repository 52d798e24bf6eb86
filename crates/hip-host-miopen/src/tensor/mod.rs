//! Tensors: the settings of a descriptor, and the memory that it describes.

pub(super) mod descriptor;
mod element;
mod memory;

pub(super) use descriptor::{TENSORS, tensor};
pub(super) use element::{Kind, Real};
pub(super) use memory::{Array, BLOCK, Dims, View, blocks};

use super::answer::{BAD, NO_SOLVER, Outcome, check};
use hip_sys::miopen::{miopenDataType_t, miopenTensorLayout_t};

/// The settings of a tensor descriptor. A new one has no dimensions.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Tensor {
    pub(super) dtype: miopenDataType_t,
    pub(super) lens: Vec<usize>,
    pub(super) strides: Vec<usize>,
    /// The type that values are cast to before the arithmetic, if one was set.
    pub(super) cast: Option<miopenDataType_t>,
}

impl Default for Tensor {
    fn default() -> Self {
        Self { dtype: miopenDataType_t::miopenFloat, lens: Vec::new(), strides: Vec::new(), cast: None }
    }
}

impl Tensor {
    /// A tensor with these strides.
    ///
    /// # Errors
    /// BadParm unless all numbers are positive and the size in bytes does not overflow.
    pub(super) fn strided(dtype: miopenDataType_t, lens: Vec<usize>, strides: Vec<usize>) -> Outcome<Self> {
        let positive = |list: &[usize]| list.iter().all(|&it| it > 0 && i64::try_from(it).is_ok());
        check(element::bytes(dtype).is_some() && !lens.is_empty() && lens.len() == strides.len(), BAD)?;
        check(positive(&lens) && positive(&strides), BAD)?;
        let space = lens.iter().zip(&strides).try_fold(1_usize, |space, (len, stride)| {
            (len - 1).checked_mul(*stride).and_then(|more| space.checked_add(more))
        });
        let bytes = space.and_then(|space| space.checked_mul(8));
        let count = lens.iter().try_fold(1_usize, |count, len| count.checked_mul(*len));
        check(bytes.is_some() && count.is_some(), BAD)?;
        Ok(Self { dtype, lens, strides, cast: None })
    }

    /// A contiguous tensor, the last dimension innermost.
    ///
    /// # Errors
    /// As [`Tensor::strided`].
    pub(super) fn packed(dtype: miopenDataType_t, lens: Vec<usize>) -> Outcome<Self> {
        let order: Vec<usize> = (0..lens.len()).collect();
        Self::ordered(dtype, lens, &order)
    }

    /// A contiguous tensor in a layout. The lengths are in the order NCHW or NCDHW whatever the layout is.
    ///
    /// # Errors
    /// BadParm if the layout has another number of dimensions, NotImplemented for layouts that divide channels into vectors.
    pub(super) fn laid_out(
        dtype: miopenDataType_t,
        layout: miopenTensorLayout_t,
        lens: Vec<usize>,
    ) -> Outcome<Self> {
        let order: &[usize] = match layout {
            miopenTensorLayout_t::miopenTensorNCHW => &[0, 1, 2, 3],
            miopenTensorLayout_t::miopenTensorNHWC => &[0, 2, 3, 1],
            miopenTensorLayout_t::miopenTensorCHWN => &[1, 2, 3, 0],
            miopenTensorLayout_t::miopenTensorNCDHW => &[0, 1, 2, 3, 4],
            miopenTensorLayout_t::miopenTensorNDHWC => &[0, 2, 3, 4, 1],
            miopenTensorLayout_t(3..=6) => return Err(NO_SOLVER),
            _ => return Err(BAD),
        };
        check(order.len() == lens.len(), BAD)?;
        Self::ordered(dtype, lens, order)
    }

    /// A contiguous tensor, with the dimensions in that order from the outermost to the innermost.
    fn ordered(dtype: miopenDataType_t, lens: Vec<usize>, order: &[usize]) -> Outcome<Self> {
        check(!lens.is_empty() && lens.iter().all(|&len| len > 0), BAD)?;
        let mut strides = vec![0; lens.len()];
        let mut stride = 1_usize;
        for &axis in order.iter().rev() {
            strides[axis] = stride;
            stride = stride.checked_mul(lens[axis]).ok_or(BAD)?;
        }
        Self::strided(dtype, lens, strides)
    }

    /// The number of elements.
    pub(super) fn count(&self) -> usize {
        self.lens.iter().product()
    }

    /// The number of elements from the first to the last in memory.
    pub(super) fn space(&self) -> usize {
        1 + self.lens.iter().zip(&self.strides).map(|(len, stride)| (len - 1) * stride).sum::<usize>()
    }

    /// Bytes from the first to the last element.
    pub(super) fn bytes(&self) -> usize {
        let space = if self.lens.is_empty() { 1 } else { self.space() };
        space * element::bytes(self.dtype).unwrap_or(0)
    }

    /// Whether it is contiguous: no gaps between its elements.
    pub(super) fn is_packed(&self) -> bool {
        self.lens.is_empty() || self.count() == self.space()
    }

    /// The number of dimensions.
    pub(super) fn rank(&self) -> usize {
        self.lens.len()
    }

    /// Whether it has one of these types.
    pub(super) fn is_of(&self, types: &[miopenDataType_t]) -> bool {
        types.contains(&self.dtype)
    }

    /// Some of its dimensions.
    pub(super) fn dims(&self, axes: impl IntoIterator<Item = usize>) -> Dims {
        let axes: Vec<usize> = axes.into_iter().collect();
        let pick = |list: &[usize]| axes.iter().map(|&axis| list[axis]).collect::<Vec<_>>();
        Dims::new(&pick(&self.lens), &pick(&self.strides))
    }

    /// All dimensions, with those of length 1 broadcast to `lens`.
    pub(super) fn spread(&self, lens: &[usize]) -> Dims {
        let strides =
            self.lens.iter().zip(&self.strides).map(|(&len, &stride)| if len == 1 { 0 } else { stride });
        Dims::new(lens, &strides.collect::<Vec<_>>())
    }
}
